#include "models/inverted_residual.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain::models {

Image convolution_norm_activation(ModelWriter& writer, const std::string& name, Image& input, std::int64_t channels,
                                  const Window& window, std::int64_t groups, ConvolutionActivation activation) {
  Image x = convolution_norm(writer, name + ".0", name + ".1", input, channels, window, groups);
  switch (activation) {
    case ConvolutionActivation::silu: x.data = writer.silu(name + ".2", x.data); break;
    case ConvolutionActivation::prelu: x.data = writer.prelu(name + ".2", x.data, channels); break;
    case ConvolutionActivation::none: break;
  }
  return x;
}

namespace {

Image squeeze_excite(ModelWriter& writer, const std::string& name, Image& image, std::int64_t squeezed) {
  Image pooled = writer.average_pool(name + ".avgpool", image, 1, 1);
  Image small = writer.convolution(name + ".fc1", pooled, squeezed, square_window(1, 1, 0), true);
  small.data = writer.silu(name + ".activation", small.data);
  const Image scale = writer.convolution(name + ".fc2", small, image.channels, square_window(1, 1, 0), true);
  Activation factors = writer.sigmoid(name + ".scale_activation", scale.data);
  return writer.scale_channels(name + ".scale", image, factors);
}

}  // namespace

Image write_inverted_residual(ModelWriter& writer, const std::string& name, Image& input,
                              const InvertedResidualShape& shape) {
  const std::int64_t wide = input.channels * shape.expansion;
  Image x = input;
  if (shape.expansion > 1) {
    x = convolution_norm_activation(writer, name + ".expand", input, wide, square_window(1, 1, 0), 1, shape.activation);
  }
  const Window window = square_window(shape.kernel, shape.stride, (shape.kernel - 1) / 2);
  x = convolution_norm_activation(writer, name + ".depthwise", x, wide, window, wide, shape.activation);
  if (shape.squeeze_excite) {
    x = squeeze_excite(writer, name + ".se", x, std::max<std::int64_t>(1, input.channels / 4));
  }
  x = convolution_norm_activation(writer, name + ".project", x, shape.channels, square_window(1, 1, 0), 1,
                                  ConvolutionActivation::none);
  if (shape.stride == 1 && input.channels == shape.channels) x.data = writer.residual(name + ".add", x.data);
  return x;
}

std::vector<std::string> InvertedResidualStages::keys() {
  return {"block_channels", "blocks_per_stage", "expansion", "block_kernel", "stage_stride"};
}

InvertedResidualStages::InvertedResidualStages(const Sizes& sizes)
    : channels(sizes.list("block_channels", 1, most_channels)),
      blocks(sizes.list("blocks_per_stage", 1, most_blocks)),
      expansion(sizes.list("expansion", 1, 64)),
      kernel(sizes.list("block_kernel", 1, 31)),
      stride(sizes.list("stage_stride", 1, 2)) {
  for (const auto* list : {&blocks, &expansion, &kernel, &stride}) {
    if (list->size() != channels.size()) {
      sizes.fail({"block_channels"}, "all lists of stages must have the same length");
    }
  }
}

Image write_stages(ModelWriter& writer, const std::string& name, Image image, const InvertedResidualStages& stages,
                   const InvertedResidualShape& common) {
  for (std::size_t i = 0; i < stages.channels.size(); ++i) {
    InvertedResidualShape shape = common;
    shape.channels = stages.channels[i];
    shape.expansion = stages.expansion[i];
    shape.kernel = stages.kernel[i];
    for (std::int64_t block = 0; block < stages.blocks[i]; ++block) {
      shape.stride = block == 0 ? stages.stride[i] : 1;
      const std::string block_name = fmt::format("{}.{}.{}", name, i + 1, block);
      writer.begin_layer(block_name);
      image = write_inverted_residual(writer, block_name, image, shape);
    }
  }
  return image;
}

}  // namespace foretrain::models
