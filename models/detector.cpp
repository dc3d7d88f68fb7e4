#include "models/detector.h"

#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/resnet_stages.h"

namespace foretrain::models {
namespace {

struct SsdSizes {
  std::int64_t image, channels, classes;
  ResNetShape backbone;
  std::vector<std::int64_t> extra_inner, extra_channels, extra_halves, default_boxes;

  explicit SsdSizes(const Sizes& sizes)
      : image(sizes.integer("image", 64, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 2, most_classes)),
        extra_inner(sizes.list("extra_inner", 1, most_channels)),
        extra_channels(sizes.list("extra_channels", 1, most_channels)),
        extra_halves(sizes.list("extra_halves", 0, 1)),
        default_boxes(sizes.list("default_boxes", 1, 64)) {
    sizes.allow_only({"image", "channels", "classes", "width", "blocks_per_stage", "bottleneck", "extra_inner",
                      "extra_channels", "extra_halves", "default_boxes"});
    backbone.width = sizes.integer("width", 1, 4096);
    backbone.blocks_per_stage = sizes.list("blocks_per_stage", 1, most_blocks);
    backbone.bottleneck = sizes.flag("bottleneck");
    backbone.last_stride = 1;
    const bool match = extra_inner.size() == extra_channels.size() && extra_halves.size() == extra_channels.size() &&
                       default_boxes.size() == extra_channels.size() + 1;
    if (!match) {
      sizes.fail({"extra_channels"}, "one number per further map in extra_*, one more in default_boxes");
    }
    if (backbone.blocks_per_stage.size() > 4) sizes.fail({"blocks_per_stage"}, "expected at most 4 stages");
  }
};

std::vector<Image> feature_maps(ModelWriter& writer, const SsdSizes& sizes, const Sizes& raw, Image image) {
  ResNetStages stages(writer, sizes.backbone, "feature_extractor.");
  image = stages.stem(image);
  for (std::size_t i = 0; i < stages.stages(); ++i) image = stages.stage(i, image);
  std::vector<Image> maps = {image};
  for (std::size_t i = 0; i < sizes.extra_channels.size(); ++i) {
    const std::string name = fmt::format("additional_blocks.{}", i);
    writer.begin_layer(name);
    Image x = convolution_norm_relu(writer, name + ".0", name + ".1", name + ".2", maps.back(), sizes.extra_inner[i],
                                    square_window(1, 1, 0));
    const Window window = sizes.extra_halves[i] == 1 ? square_window(3, 2, 1) : square_window(3, 1, 0);
    x = convolution_norm_relu(writer, name + ".3", name + ".4", name + ".5", x, sizes.extra_channels[i], window);
    if (x.height < 1) raw.fail({"image"}, fmt::format("an image of {} ends before the last map", sizes.image));
    maps.push_back(x);
  }
  return maps;
}

// Smooth L1 of the boxes; cross entropy over the classes, of which the hardest negatives are kept: two sorts.
void write_loss(ModelWriter& writer, double boxes, std::int64_t predictions, std::int64_t classes) {
  writer.begin_layer("loss");
  writer.pass("loss.boxes", OperatorKind::loss, 2 * boxes, boxes, 3 * boxes, 1).saved_elements = boxes;
  const double n = static_cast<double>(predictions);
  writer.cross_entropy("loss.classes", {n * static_cast<double>(classes), false}, predictions);
  constexpr double sorting_passes = 16;  // radix sort of four-byte keys with their indices, twice
  Operator& mining =
      writer.pass("loss.negative_mining", OperatorKind::loss, sorting_passes * n, sorting_passes * n, 2 * n, n);
  mining.kernels_forward = 10;
}

}  // namespace

void build_ssd(Model& model, const Sizes& sizes) {
  const SsdSizes checked(sizes);
  ModelWriter writer(model);
  std::vector<Image> maps =
      feature_maps(writer, checked, sizes, input_images(model, checked.channels, checked.image, checked.image));
  writer.begin_layer("heads");
  double boxes = 0;
  std::int64_t predictions = 0;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::int64_t count = checked.default_boxes[i];
    const Window window = square_window(3, 1, 1);
    boxes += writer.convolution(fmt::format("loc.{}", i), maps[i], 4 * count, window, true).data.elements;
    writer.convolution(fmt::format("conf.{}", i), maps[i], checked.classes * count, window, true);
    predictions += model.micro_batch * count * maps[i].height * maps[i].width;
  }
  const double outputs = boxes + static_cast<double>(predictions) * static_cast<double>(checked.classes);
  writer.pass("cat", OperatorKind::elementwise, outputs, outputs, 2 * outputs, outputs).kernels_forward = 2;
  write_loss(writer, boxes, predictions, checked.classes);
}

}  // namespace foretrain::models
