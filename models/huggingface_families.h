// The families of Hugging Face configurations: how each names what a builder needs.
#pragma once

#include <string>
#include <vector>

#include "models/huggingface.h"
#include "models/huggingface_config.h"

namespace foretrain::models {

struct HuggingFaceFamily {
  std::vector<std::string> model_types;  // values of "model_type"
  std::string telling_key;               // a file without model_type and architectures that has it is of this family
  std::vector<std::string> expected;     // keys that a file must have
  void (*read)(const HuggingFaceConfig&, HuggingFaceModel&);  // sets builder, sizes and sequence
};

[[nodiscard]] const std::vector<HuggingFaceFamily>& huggingface_families();

}  // namespace foretrain::models
