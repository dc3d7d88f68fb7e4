#include "models/resnet_stages.h"

#include <utility>

#include <fmt/format.h>

#include "models/convolution_blocks.h"

namespace foretrain::models {

ResNetStages::ResNetStages(ModelWriter& writer, ResNetShape shape, std::string prefix)
    : writer_(writer), shape_(std::move(shape)), prefix_(std::move(prefix)) {
  if (shape_.group_width == 0) shape_.group_width = shape_.width;
}

Image ResNetStages::stem(Image image) {
  writer_.begin_layer(prefix_ + "stem");
  image = convolution_norm_relu(writer_, prefix_ + "conv1", prefix_ + "bn1", prefix_ + "relu", image, shape_.width,
                                square_window(7, 2, 3));
  return writer_.max_pool(prefix_ + "maxpool", image, square_window(3, 2, 1));
}

Image ResNetStages::stage(std::size_t index, Image image) {
  const bool last = index + 1 == stages();
  const std::int64_t stage_stride = index == 0 ? 1 : last ? shape_.last_stride : 2;
  for (std::int64_t i = 0; i < shape_.blocks_per_stage[index]; ++i) {
    image = block(fmt::format("{}layer{}.{}", prefix_, index + 1, i), image, shape_.width << index,
                  i == 0 ? stage_stride : 1);
  }
  return image;
}

Image ResNetStages::block(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
  writer_.begin_layer(name);
  Image branch =
      shape_.bottleneck ? bottleneck_branch(name, input, width, stride) : basic_branch(name, input, width, stride);
  if (stride != 1 || input.channels != branch.channels) {
    convolution_norm(writer_, name + ".downsample.0", name + ".downsample.1", input, branch.channels,
                     square_window(1, stride, 0));
  }
  branch.data = writer_.residual(name + ".add", branch.data);
  branch.data = writer_.relu(name + ".relu_out", branch.data);
  return branch;
}

Image ResNetStages::bottleneck_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
  const std::int64_t first_stride = shape_.stride_in_3x3 ? 1 : stride;
  const std::int64_t second_stride = shape_.stride_in_3x3 ? stride : 1;
  const std::int64_t inner = shape_.groups * shape_.group_width * (width / shape_.width);
  Image x = convolution_norm_relu(writer_, name + ".conv1", name + ".bn1", name + ".relu1", input, inner,
                                  square_window(1, first_stride, 0));
  x = convolution_norm_relu(writer_, name + ".conv2", name + ".bn2", name + ".relu2", x, inner,
                            square_window(3, second_stride, 1), shape_.groups);
  constexpr std::int64_t expansion = 4;
  return convolution_norm(writer_, name + ".conv3", name + ".bn3", x, expansion * width, square_window(1, 1, 0));
}

Image ResNetStages::basic_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
  Image x = convolution_norm_relu(writer_, name + ".conv1", name + ".bn1", name + ".relu1", input, width,
                                  square_window(3, stride, 1));
  return convolution_norm(writer_, name + ".conv2", name + ".bn2", x, width, square_window(3, 1, 1));
}

}  // namespace foretrain::models
