// Object detectors with one stage: SSD on a residual backbone (Liu et al. 2015, arXiv:1512.02325).
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// The backbone's first stages, the last of them without halving the image, then further feature maps, a 1×1 and a
// 3×3 convolution each; on every map a 3×3 convolution for boxes and one for classes. Sizes: image, channels,
// classes (with the background), width, blocks_per_stage (list), bottleneck; lists with one number per further map:
// extra_inner (channels of the 1×1), extra_channels, extra_halves (0/1); default_boxes (list, one per map).
void build_ssd(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
