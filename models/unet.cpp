#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/segmentation.h"

namespace foretrain::models {
namespace {

struct UnetSizes {
  std::int64_t image, channels, outputs, input_channels, bottleneck_channels, output_channels;
  std::vector<std::int64_t> block_channels;

  explicit UnetSizes(const Sizes& sizes)
      : image(sizes.integer("image", 1, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        outputs(sizes.integer("outputs", 1, most_classes)),
        input_channels(sizes.integer("input_channels", 1, most_channels)),
        bottleneck_channels(sizes.integer("bottleneck_channels", 2, most_channels)),
        output_channels(sizes.integer("output_channels", 1, most_channels)),
        block_channels(sizes.list("block_channels", 2, most_channels)) {
    sizes.allow_only(
        {"image", "channels", "outputs", "input_channels", "block_channels", "bottleneck_channels", "output_channels"});
    constexpr std::size_t most_blocks_down = 12;
    if (block_channels.size() > most_blocks_down) {
      sizes.fail({"block_channels"}, fmt::format("expected at most {} blocks", most_blocks_down));
    }
    const std::int64_t parts = std::int64_t{2} << block_channels.size();
    if (image % parts != 0) {
      sizes.fail({"image"}, fmt::format("an image of {} does not halve {} times", image, block_channels.size() + 1),
                 fmt::format("a multiple of {}", parts));
    }
  }
};

class UnetBuilder {
 public:
  UnetBuilder(ModelWriter& writer, const UnetSizes& sizes) : writer_(writer), sizes_(sizes) {}

  void build(Image x) {
    x = down("input_block", x, sizes_.input_channels);
    for (std::size_t i = 0; i < sizes_.block_channels.size(); ++i) {
      x = down(fmt::format("downsample_block_{}", i + 1), x, sizes_.block_channels[i]);
    }
    writer_.begin_layer("bottleneck_block");
    x = two_convolutions("bottleneck_block", x, sizes_.bottleneck_channels, sizes_.bottleneck_channels);
    x = wider("bottleneck_block", x, sizes_.bottleneck_channels / 2);
    for (std::size_t i = sizes_.block_channels.size(); i-- > 0;) {
      const std::string name = fmt::format("upsample_block_{}", sizes_.block_channels.size() - i);
      const std::int64_t channels = sizes_.block_channels[i];
      x = beside_skipped(name, x);
      x = two_convolutions(name, x, channels, channels / 2);
      x = wider(name, x, channels / 2);
    }
    x = beside_skipped("outputs_block", x);
    x = two_convolutions("outputs_block", x, sizes_.output_channels, sizes_.output_channels);
    const Image logits = writer_.convolution("outputs_block.conv3", x, sizes_.outputs, square_window(1, 1, 0), true);
    // Sigmoid, and the overlap of prediction and mask: a product and three sums.
    writer_.begin_layer("loss");
    writer_.sigmoid("sigmoid", logits.data);
    const double n = logits.data.elements;
    Operator& loss = writer_.pass("loss", OperatorKind::loss, 6 * n, n, 4 * n, 1);
    loss.kernels_forward = loss.kernels_backward = 4;
    loss.saved_elements = n;
  }

 private:
  Image two_convolutions(const std::string& name, Image& input, std::int64_t first, std::int64_t second) {
    const Window window = square_window(3, 1, 1);
    Image x = convolution_relu(writer_, name + ".conv1", name + ".act1", input, first, window);
    return convolution_relu(writer_, name + ".conv2", name + ".act2", x, second, window);
  }

  Image down(const std::string& name, Image& input, std::int64_t channels) {
    writer_.begin_layer(name);
    Image x = two_convolutions(name, input, channels, channels);
    skipped_.push_back(x);
    return writer_.max_pool(name + ".max_pooling2d", x, square_window(2, 2, 0));
  }

  // Twice the extent, then a 2×2 convolution padded on one side.
  Image wider(const std::string& name, const Image& input, std::int64_t channels) {
    Image x = writer_.upsample(name + ".upscale", input, 2 * input.height, 2 * input.width);
    ConvolutionShape shape;
    shape.batch = writer_.micro_batch();
    shape.in_channels = x.channels;
    shape.height = shape.out_height = x.height;
    shape.width = shape.out_width = x.width;
    shape.out_channels = channels;
    shape.kernel_height = shape.kernel_width = 2;
    const Activation y = writer_.convolution(name + ".deconv2d", x.data, shape, {channels, x.channels, 2, 2}, true);
    return {channels, x.height, x.width, writer_.relu(name + ".act3", y)};
  }

  Image beside_skipped(const std::string& name, const Image& x) {
    writer_.begin_layer(name);
    const Image both = writer_.concatenate(name + ".concat", {x, skipped_.back()});
    skipped_.pop_back();
    return both;
  }

  ModelWriter& writer_;
  const UnetSizes& sizes_;
  std::vector<Image> skipped_;
};

}  // namespace

void build_unet(Model& model, const Sizes& sizes) {
  const UnetSizes checked(sizes);
  const Image image = input_images(model, checked.channels, checked.image, checked.image);
  ModelWriter writer(model);
  UnetBuilder(writer, checked).build(image);
}

}  // namespace foretrain::models
