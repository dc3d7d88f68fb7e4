// Segmentation by U-Nets (Ronneberger et al. 2015, arXiv:1505.04597): down to a bottleneck, up again, with what was
// seen on the way down beside what comes up; in two dimensions and in three (Çiçek et al. 2016, arXiv:1606.06650).
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Blocks of two 3×3 convolutions with ReLUs, pooled between; on the way up the second halves the channels, then
// the extent is doubled and a 2×2 convolution follows. Sizes: image, channels, outputs (of a place), input_channels,
// block_channels (list, of the blocks behind the first), bottleneck_channels, output_channels.
void build_unet(Model& model, const Sizes& sizes);

// Blocks of two 3×3×3 convolutions with instance norms and leaky ReLUs, the first of each halving the extent; on the
// way up a transposed 2×2×2 convolution, the skipped tensor beside it, two convolutions. Sizes: volume (extent, a
// cube), channels, classes, level_channels (list, finest first), bottleneck_channels.
void build_unet_3d(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
