// Hugging Face: a model by its config.json, as `transformers` saves it beside the weights.
//
// The families name the same sizes differently (num_hidden_layers, n_layer, num_layers, encoder_layers); each is mapped
// to a builder and its sizes (docs/models.md has the list). Where a key may be left out, its value is that of the
// family's configuration class; `null` is the same as leaving it out. Sizes are checked before anything is built.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/model.h"

namespace foretrain::models {

struct HuggingFaceModel {
  std::string builder;                  // of the zoo's builders
  std::map<std::string, double> sizes;  // all of that builder's
  std::string name;                     // the checkpoint's, else the family's
  std::string architecture;             // the class ("LlamaForCausalLM"), else the family's name
  std::int64_t sequence = 0;            // the most tokens it was configured for; 0 = none to choose (images)
  std::string left_out;                 // parts of the file that are not built ("vision_config"); empty = none
};

// Reads the text of the file `where`. Throws Error, with the place in the file, for text that is not JSON, families
// that are not known (the nearest named) or not simulated (mixtures of experts, latent attention), and for keys that
// are missing (those expected are listed) or out of range.
[[nodiscard]] HuggingFaceModel read_huggingface(const std::string& text, const std::string& where);

// Reads source.operators_text (named source.name) and builds it; source.overrides are sizes of the builder.
[[nodiscard]] Model build_huggingface_model(const ModelSource& source, const BatchShape& batch);

}  // namespace foretrain::models
