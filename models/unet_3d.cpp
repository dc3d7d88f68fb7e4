#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/segmentation.h"
#include "models/volume_blocks.h"

namespace foretrain::models {
namespace {

struct Unet3dSizes {
  std::int64_t volume, channels, classes, bottleneck_channels;
  std::vector<std::int64_t> level_channels;

  explicit Unet3dSizes(const Sizes& sizes)
      : volume(sizes.integer("volume", 1, 1024)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 2, most_classes)),
        bottleneck_channels(sizes.integer("bottleneck_channels", 1, most_channels)),
        level_channels(sizes.list("level_channels", 1, most_channels)) {
    sizes.allow_only({"volume", "channels", "classes", "level_channels", "bottleneck_channels"});
    constexpr std::size_t most_levels = 9;
    if (level_channels.size() > most_levels) {
      sizes.fail({"level_channels"}, fmt::format("expected at most {} levels", most_levels));
    }
    const std::int64_t parts = std::int64_t{1} << level_channels.size();
    if (volume % parts != 0) {
      sizes.fail({"volume"}, fmt::format("a volume of {} does not halve {} times", volume, level_channels.size()),
                 fmt::format("a multiple of {}", parts));
    }
  }
};

class Unet3dBuilder {
 public:
  Unet3dBuilder(ModelWriter& writer, const Unet3dSizes& sizes) : writer_(writer), sizes_(sizes) {}

  void build(Volume x) {
    std::vector<Volume> skipped;
    for (std::size_t i = 0; i < sizes_.level_channels.size(); ++i) {
      const std::string name = i == 0 ? "input_block" : fmt::format("downsample.{}", i - 1);
      writer_.begin_layer(name);
      x = block(name, i == 0 ? x : skipped.back(), sizes_.level_channels[i], i == 0 ? 1 : 2);
      skipped.push_back(x);
    }
    writer_.begin_layer("bottleneck");
    x = block("bottleneck", skipped.back(), sizes_.bottleneck_channels, 2);
    for (std::size_t i = skipped.size(); i-- > 0;)
      x = up(fmt::format("upsample.{}", skipped.size() - 1 - i), x, skipped[i]);
    writer_.begin_layer("output");
    const Volume logits = convolve_volume(writer_, "output.conv", x, sizes_.classes, 1, 1, true);
    loss(logits.data);
  }

 private:
  // A convolution, an instance norm (as one pass for the statistics and one for the tensor) and a leaky ReLU.
  Volume convolution(const std::string& name, Volume& input, std::int64_t channels, std::int64_t stride) {
    Volume x = convolve_volume(writer_, name + ".0", input, channels, 3, stride, false);
    x.data = writer_.batch_norm(name + ".1", x.data, channels);
    x.data = writer_.relu(name + ".2", x.data);
    return x;
  }

  Volume block(const std::string& name, Volume& input, std::int64_t channels, std::int64_t stride) {
    Volume x = convolution(name + ".conv1", input, channels, stride);
    return convolution(name + ".conv2", x, channels, 1);
  }

  Volume up(const std::string& name, Volume& input, const Volume& skipped) {
    writer_.begin_layer(name);
    const Volume wide = widen_volume(writer_, name + ".upsample_conv", input, skipped.channels, 2, true);
    const double n = wide.data.elements + skipped.data.elements;
    Volume both{2 * skipped.channels, wide.extent, writer_.copy(name + ".cat", {n, false})};
    return block(name, both, skipped.channels, 1);
  }

  // Softmax; the overlap with each class (two products and three sums) and the cross entropy, half each.
  void loss(const Activation& logits) {
    writer_.begin_layer("loss");
    const double n = logits.elements;
    Operator& dice = writer_.pass("loss.dice", OperatorKind::loss, 8 * n, 4 * n, 6 * n, 1);
    dice.kernels_forward = dice.kernels_backward = 7;
    dice.saved_elements = 2 * n;
    writer_.cross_entropy("loss.cross_entropy", logits, static_cast<std::int64_t>(n) / sizes_.classes);
  }

  ModelWriter& writer_;
  const Unet3dSizes& sizes_;
};

}  // namespace

void build_unet_3d(Model& model, const Sizes& sizes) {
  const Unet3dSizes checked(sizes);
  const auto extent = static_cast<double>(checked.volume);
  model.sample_unit = "volume";
  model.sample_elements = static_cast<double>(checked.channels) * extent * extent * extent;
  ModelWriter writer(model);
  Unet3dBuilder(writer, checked)
      .build(
          {checked.channels, checked.volume, {static_cast<double>(model.micro_batch) * model.sample_elements, false}});
}

}  // namespace foretrain::models
