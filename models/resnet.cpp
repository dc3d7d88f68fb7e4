#include "models/convnet.h"
#include "models/convolution_blocks.h"
#include "models/resnet_stages.h"

namespace foretrain::models {

void build_resnet(Model& model, const Sizes& sizes) {
  std::vector<std::string> keys = ResNetShape::keys();
  keys.insert(keys.end(), {"image", "channels", "classes"});
  sizes.allow_only(keys);
  const std::int64_t extent = sizes.integer("image", 32, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t classes = sizes.integer("classes", 1, most_classes);
  ModelWriter writer(model);
  ResNetStages stages(writer, ResNetShape::of(sizes));
  Image image = stages.stem(input_images(model, channels, extent, extent));
  for (std::size_t i = 0; i < stages.stages(); ++i) image = stages.stage(i, image);
  write_image_classifier(writer, "fc", image, classes, false);
}

}  // namespace foretrain::models
