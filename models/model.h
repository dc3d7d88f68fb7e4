// Model: what is trained, built for one micro-batch.
//
// A ModelSource says what the user named: a zoo entry (a builder's name and sizes, which may be
// overridden), a list of operators of their own, or mere totals. build_model turns it into layers of
// operators with all shapes resolved. Building is cheap (well under a millisecond), so a model is
// rebuilt whenever batch or sequence change; nothing is scaled afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/data.h"
#include "models/operator.h"

namespace foretrain::models {

struct Layer {
  std::string name;
  std::vector<Operator> operators;
  bool is_block = false;  // one of the equal layers that pipelines, recompute and sharding units count
};

struct Model {
  std::string name;
  std::string family;       // "convnet", "transformer", "recurrent", "recommender", "operators", "totals"
  std::string sample_unit;  // "image", "sequence", "line": what one sample is
  std::int64_t micro_batch = 0;
  std::int64_t sequence = 0;   // tokens per sample; 0 where the user has none to choose (images, lines)
  double sample_elements = 0;  // input elements of one sample (for host-to-device copies)
  std::vector<Layer> layers;   // in forward order
  std::string source;          // where sizes are from
};

// Totals only: a model known by size. Spread over `layers` equal layers.
struct Totals {
  double parameters = 0;
  double flops_per_sample = 0;             // forward + backward, 0 = unknown (then a measured step is required)
  double activation_bytes_per_sample = 0;  // 0 = unknown
  std::int64_t layers = 1;
  double activation_element_bytes = 2;  // bytes per element in that figure: 2 in mixed precision, 4 in fp32
};

struct ModelSource {
  enum class Kind { zoo, operators, totals, huggingface };
  Kind kind = Kind::zoo;
  std::string name;                         // zoo entry, or the file of operators or configuration
  std::map<std::string, double> overrides;  // sizes of the builder, by the zoo files' own keys (zoo, huggingface)
  std::string operators_text;               // the file's text (read by scenarios/), of operators or configuration
  Totals totals;
  std::string where;  // place in the user's input, for messages
};

struct BatchShape {
  std::int64_t micro_batch = 1;
  std::int64_t sequence = 0;  // 0 = the model's own default
};

// Throws Error for an unknown zoo name (nearest suggested), an unknown or bad override, a bad operator list.
[[nodiscard]] Model build_model(const ModelSource& source, const BatchShape& batch, const DataStore& data);

// Zoo entries for `list models`: name, one-line description, parameter count at default sizes.
struct ZooEntry {
  std::string name, family, description, source;
  double published_parameters = 0;     // 0 = none stated
  double published_forward_flops = 0;  // of one sample, a multiply-add as two; 0 = none stated
  // Of the model as built at its default sizes.
  double parameters = 0;
  Flops forward_flops;
};
[[nodiscard]] std::vector<ZooEntry> zoo_entries(const DataStore& data);
// The sizes of a zoo entry that may be overridden, with their defaults (lists, like the blocks of each
// stage, may not).
[[nodiscard]] std::map<std::string, double> zoo_sizes(const std::string& name, const DataStore& data);

[[nodiscard]] double parameter_count(const Model& model);  // trained ones
// Weights that are used but not trained: in memory without gradients and optimizer state.
[[nodiscard]] double frozen_parameter_count(const Model& model);
// Forward plus backward FLOPs of one micro-batch.
[[nodiscard]] Flops training_flops(const Model& model);
[[nodiscard]] Flops forward_flops(const Model& model);
// Elements kept from forward to backward for one micro-batch, with fused attention.
[[nodiscard]] double saved_elements(const Model& model);
// What unfused attention keeps in addition (the sum of unfused_saved_elements).
[[nodiscard]] double unfused_saved_elements(const Model& model);

}  // namespace foretrain::models
