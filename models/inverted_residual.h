// Inverted residual blocks (Sandler et al. 2018, arXiv:1801.04381): 1×1 convolution to more channels, depthwise
// convolution, 1×1 convolution to few; EfficientNet adds squeeze-and-excitation (Hu et al. 2017,
// arXiv:1709.01507), MobileFaceNet has PReLUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/convolution_blocks.h"
#include "models/sizes.h"

namespace foretrain::models {

enum class ConvolutionActivation { none, silu, prelu };

// A convolution without bias, batch norm and the activation, named below `name`.
Image convolution_norm_activation(ModelWriter& writer, const std::string& name, Image& input, std::int64_t channels,
                                  const Window& window, std::int64_t groups, ConvolutionActivation activation);

struct InvertedResidualShape {
  std::int64_t channels = 0, expansion = 1, kernel = 3, stride = 1;
  bool squeeze_excite = false;  // to a quarter of the block's input channels
  ConvolutionActivation activation = ConvolutionActivation::silu;
};

// Appends the block to the layer begun last; where extent and channels stay, its input is added.
Image write_inverted_residual(ModelWriter& writer, const std::string& name, Image& input,
                              const InvertedResidualShape& shape);

// Stages of blocks: lists of equal length with one number per stage.
struct InvertedResidualStages {
  std::vector<std::int64_t> channels, blocks, expansion, kernel, stride;

  // Reads block_channels, blocks_per_stage, expansion, block_kernel and stage_stride.
  explicit InvertedResidualStages(const Sizes& sizes);
  [[nodiscard]] static std::vector<std::string> keys();
};
Image write_stages(ModelWriter& writer, const std::string& name, Image image, const InvertedResidualStages& stages,
                   const InvertedResidualShape& common);

}  // namespace foretrain::models
