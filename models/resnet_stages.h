// The stages of residual networks: ResNet (He et al. 2015, arXiv:1512.03385), ResNeXt (Xie et al. 2016,
// arXiv:1611.05431) and Wide ResNet (Zagoruyko and Komodakis 2016, arXiv:1605.07146), as classifiers and
// as backbones of detectors. Names as in torchvision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model_writer.h"
#include "models/sizes.h"

namespace foretrain::models {

struct ResNetShape {
  std::int64_t width = 64;  // channels of the first stage, doubled at each
  std::vector<std::int64_t> blocks_per_stage;
  bool bottleneck = false;       // 1×1, 3×3, 1×1 with four times the channels; else two 3×3
  bool stride_in_3x3 = true;     // v1.5: the 3×3 convolution of a bottleneck halves the image; v1: the first 1×1
  std::int64_t groups = 1;       // of the 3×3 convolution of a bottleneck
  std::int64_t group_width = 0;  // its channels per group in the first stage; 0 = width
  std::int64_t last_stride = 2;  // of the last stage (detectors may keep the image as it is)
  bool frozen_norms = false;     // batch norms with fixed statistics and factors

  // Reads width, blocks_per_stage, bottleneck, stride_in_3x3, groups, group_width.
  static ResNetShape of(const Sizes& sizes);
  [[nodiscard]] static std::vector<std::string> keys();
};

class ResNetStages {
 public:
  // `prefix` stands before every name ("backbone.").
  ResNetStages(ModelWriter& writer, ResNetShape shape, std::string prefix = "");

  // 7×7 convolution and 3×3 max pooling: a quarter of the extent.
  Image stem(Image image);
  // The blocks of one stage, counted from 0; all but the first halve the image.
  Image stage(std::size_t index, Image& input);
  [[nodiscard]] std::size_t stages() const { return shape_.blocks_per_stage.size(); }
  // The outputs of all stages, finest first, of which the first `frozen` parts (the stem, the first stage, …) are not
  // trained.
  std::vector<Image> maps(Image image, std::int64_t frozen);

 private:
  Image convolution_norm(const std::string& name, const std::string& norm, Image& input, std::int64_t channels,
                         const Window& window, std::int64_t groups = 1);
  Image convolution_norm_relu(const std::string& name, const std::string& norm, const std::string& relu, Image& input,
                              std::int64_t channels, const Window& window, std::int64_t groups = 1);
  Image block(const std::string& name, Image& input, std::int64_t width, std::int64_t stride);
  Image bottleneck_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride);
  Image basic_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride);

  ModelWriter& writer_;
  ResNetShape shape_;
  std::string prefix_;
};

}  // namespace foretrain::models
