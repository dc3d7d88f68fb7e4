// An image's places as tokens: attention among them, to a text, and a gated feed-forward network (Rombach et al. 2021,
// arXiv:2112.10752, section 3.3).
#pragma once

#include <cstdint>
#include <string>

#include "models/model_writer.h"

namespace foretrain::models {

struct TextCondition {
  std::int64_t tokens = 0, width = 0;
  Activation vectors;  // batch × tokens × width
};

// Appends to the layer begun last and returns the image with the result added.
Image write_spatial_transformer(ModelWriter& writer, const std::string& name, Image& input, std::int64_t head_dimension,
                                TextCondition& text);

}  // namespace foretrain::models
