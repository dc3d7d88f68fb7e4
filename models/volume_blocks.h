// Volumes: tensors batch × channels × depth × height × width and their convolutions.
//
// A convolution over volumes stands as one over images with the depth folded into the height, of kernel and stride as
// well: FLOPs, elements, weights and the product that it amounts to are the same; it is not a 3×3 one, for
// which faster algorithms exist.
#pragma once

#include <cstdint>
#include <string>

#include "models/model_writer.h"

namespace foretrain::models {

struct Volume {
  std::int64_t channels = 0, extent = 0;  // a cube
  Activation data;
};

// A cubic kernel of odd extent, padded so that a stride of 1 keeps the volume.
Volume convolve_volume(ModelWriter& writer, const std::string& name, Volume& input, std::int64_t channels,
                       std::int64_t kernel, std::int64_t stride, bool bias);
// A cubic kernel as large as its stride: every place becomes a cube of that extent.
Volume widen_volume(ModelWriter& writer, const std::string& name, Volume& input, std::int64_t channels,
                    std::int64_t stride, bool bias);

}  // namespace foretrain::models
