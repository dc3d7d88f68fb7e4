#include <fmt/format.h>

#include "models/convnet.h"
#include "models/convolution_blocks.h"
#include "models/resnet_stages.h"

namespace foretrain::models {
namespace {

ResNetShape shape_of(const Sizes& sizes) {
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

}  // namespace

void build_resnet(Model& model, const Sizes& sizes) {
  sizes.allow_only({"image", "channels", "classes", "width", "blocks_per_stage", "bottleneck", "stride_in_3x3",
                    "groups", "group_width"});
  const std::int64_t extent = sizes.integer("image", 32, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t classes = sizes.integer("classes", 1, most_classes);
  ModelWriter writer(model);
  ResNetStages stages(writer, shape_of(sizes));
  Image image = stages.stem(input_images(model, channels, extent, extent));
  for (std::size_t i = 0; i < stages.stages(); ++i) image = stages.stage(i, image);
  write_image_classifier(writer, "fc", image, classes, false);
}

}  // namespace foretrain::models
