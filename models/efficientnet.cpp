#include "models/convnet.h"
#include "models/inverted_residual.h"

namespace foretrain::models {

void build_efficientnet(Model& model, const Sizes& sizes) {
  std::vector<std::string> known = InvertedResidualStages::keys();
  known.insert(known.end(), {"image", "channels", "classes", "stem_channels", "head_channels"});
  sizes.allow_only(known);
  const std::int64_t extent = sizes.integer("image", 32, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t classes = sizes.integer("classes", 1, most_classes);
  const std::int64_t stem = sizes.integer("stem_channels", 1, most_channels);
  const std::int64_t head = sizes.integer("head_channels", 1, most_channels);
  const InvertedResidualStages stages(sizes);

  ModelWriter writer(model);
  constexpr ConvolutionActivation silu = ConvolutionActivation::silu;
  writer.begin_layer("features.0");
  Image image = input_images(model, channels, extent, extent);
  image = convolution_norm_activation(writer, "features.0", image, stem, square_window(3, 2, 1), 1, silu);
  InvertedResidualShape block;
  block.squeeze_excite = true;
  image = write_stages(writer, "features", image, stages, block);
  writer.begin_layer("features.head");
  image = convolution_norm_activation(writer, "features.head", image, head, square_window(1, 1, 0), 1, silu);
  write_image_classifier(writer, "classifier.1", image, classes, true);
}

}  // namespace foretrain::models
