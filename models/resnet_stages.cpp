#include "models/resnet_stages.h"

#include <utility>

#include <fmt/format.h>

#include "models/convolution_blocks.h"

namespace foretrain::models {

ResNetShape ResNetShape::of(const Sizes& sizes) {
  ResNetShape shape;
  shape.width = sizes.integer("width", 1, 4096);
  shape.blocks_per_stage = sizes.list("blocks_per_stage", 1, most_blocks);
  shape.bottleneck = sizes.flag("bottleneck");
  shape.stride_in_3x3 = sizes.flag("stride_in_3x3");
  shape.groups = sizes.integer("groups", 1, 4096);
  shape.group_width = sizes.integer("group_width", 1, 4096);
  constexpr std::size_t most_stages = 8;  // the channels double at each
  if (shape.blocks_per_stage.size() > most_stages) {
    sizes.fail({"blocks_per_stage"}, fmt::format("expected at most {} stages", most_stages));
  }
  if (!shape.bottleneck && (shape.groups != 1 || shape.group_width != shape.width)) {
    sizes.fail({"groups", "group_width", "bottleneck"}, "only the 3×3 convolution of a bottleneck takes groups",
               "bottleneck: 1, or groups: 1 and group_width as width");
  }
  return shape;
}

std::vector<std::string> ResNetShape::keys() {
  return {"width", "blocks_per_stage", "bottleneck", "stride_in_3x3", "groups", "group_width"};
}

ResNetStages::ResNetStages(ModelWriter& writer, ResNetShape shape, std::string prefix)
    : writer_(writer), shape_(std::move(shape)), prefix_(std::move(prefix)) {
  if (shape_.group_width == 0) shape_.group_width = shape_.width;
}

Image ResNetStages::stem(Image image) {
  writer_.begin_layer(prefix_ + "stem");
  image = convolution_norm_relu(prefix_ + "conv1", prefix_ + "bn1", prefix_ + "relu", image, shape_.width,
                                square_window(7, 2, 3));
  return writer_.max_pool(prefix_ + "maxpool", image, square_window(3, 2, 1));
}

Image ResNetStages::stage(std::size_t index, Image& input) {
  const bool last = index + 1 == stages();
  const std::int64_t stride = index == 0 ? 1 : last ? shape_.last_stride : 2;
  const std::string name = fmt::format("{}layer{}.", prefix_, index + 1);
  Image image = block(name + "0", input, shape_.width << index, stride);
  for (std::int64_t i = 1; i < shape_.blocks_per_stage[index]; ++i) {
    image = block(fmt::format("{}{}", name, i), image, shape_.width << index, 1);
  }
  return image;
}

std::vector<Image> ResNetStages::maps(Image image, std::int64_t frozen) {
  const auto freeze = [this](Image& output) {
    writer_.freeze_so_far();
    output.data = {output.data.elements, false, true};
  };
  image = stem(image);
  if (frozen > 0) freeze(image);
  std::vector<Image> maps;
  for (std::size_t i = 0; i < stages(); ++i) {
    maps.push_back(stage(i, i == 0 ? image : maps.back()));
    if (std::cmp_less(i + 1, frozen)) freeze(maps.back());
  }
  return maps;
}

Image ResNetStages::convolution_norm(const std::string& name, const std::string& norm, Image& input,
                                     std::int64_t channels, const Window& window, std::int64_t groups) {
  if (!shape_.frozen_norms) {
    return models::convolution_norm(writer_, name, norm, input, channels, window, groups);
  }
  Image output = writer_.convolution(name, input, channels, window, false, groups);
  output.data = writer_.frozen_batch_norm(norm, output.data, channels);
  return output;
}

Image ResNetStages::convolution_norm_relu(const std::string& name, const std::string& norm, const std::string& relu,
                                          Image& input, std::int64_t channels, const Window& window,
                                          std::int64_t groups) {
  Image output = convolution_norm(name, norm, input, channels, window, groups);
  output.data = writer_.relu(relu, output.data);
  return output;
}

Image ResNetStages::block(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
  writer_.begin_layer(name);
  Image branch =
      shape_.bottleneck ? bottleneck_branch(name, input, width, stride) : basic_branch(name, input, width, stride);
  if (stride != 1 || input.channels != branch.channels) {
    convolution_norm(name + ".downsample.0", name + ".downsample.1", input, branch.channels,
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
  Image x = convolution_norm_relu(name + ".conv1", name + ".bn1", name + ".relu1", input, inner,
                                  square_window(1, first_stride, 0));
  x = convolution_norm_relu(name + ".conv2", name + ".bn2", name + ".relu2", x, inner,
                            square_window(3, second_stride, 1), shape_.groups);
  constexpr std::int64_t expansion = 4;
  return convolution_norm(name + ".conv3", name + ".bn3", x, expansion * width, square_window(1, 1, 0));
}

Image ResNetStages::basic_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
  Image x =
      convolution_norm_relu(name + ".conv1", name + ".bn1", name + ".relu1", input, width, square_window(3, stride, 1));
  return convolution_norm(name + ".conv2", name + ".bn2", x, width, square_window(3, 1, 1));
}

}  // namespace foretrain::models
