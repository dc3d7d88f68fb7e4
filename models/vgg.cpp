#include "models/convnet.h"

#include <fmt/format.h>

#include "models/convolution_blocks.h"

namespace foretrain::models {
namespace {

struct VggSizes {
  std::int64_t image, channels, classes;
  std::vector<std::int64_t> channels_per_stage, convolutions_per_stage;
  std::int64_t classifier_pool, classifier_width;
  bool batch_norm, dropout;

  explicit VggSizes(const Sizes& sizes)
      : image(sizes.integer("image", 32, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 1, most_classes)),
        channels_per_stage(sizes.list("channels_per_stage", 1, most_channels)),
        convolutions_per_stage(sizes.list("convolutions_per_stage", 1, most_blocks)),
        classifier_pool(sizes.integer("classifier_pool", 1, 64)),
        classifier_width(sizes.integer("classifier_width", 1, 1 << 20)),
        batch_norm(sizes.flag("batch_norm")),
        dropout(sizes.flag("dropout")) {
    sizes.allow_only({"image", "channels", "classes", "channels_per_stage", "convolutions_per_stage", "classifier_pool",
                      "classifier_width", "batch_norm", "dropout"});
    if (channels_per_stage.size() != convolutions_per_stage.size()) {
      sizes.fail({"convolutions_per_stage"}, fmt::format("{} stages here, {} in channels_per_stage",
                                                         convolutions_per_stage.size(), channels_per_stage.size()));
    }
    if (channels_per_stage.size() > 20 || (image >> channels_per_stage.size()) < 1) {
      sizes.fail({"image"}, fmt::format("an image of {} cannot be halved {} times", image, channels_per_stage.size()));
    }
  }
};

// The convolutions of all stages; numbered as torchvision's `features`, where ReLU, batch norm and
// pooling count too.
Image vgg_features(ModelWriter& writer, const VggSizes& sizes, Image image) {
  int index = 0;
  const auto next = [&index] { return fmt::format("features.{}", index++); };
  for (std::size_t stage = 0; stage < sizes.channels_per_stage.size(); ++stage) {
    writer.begin_layer(fmt::format("stage{}", stage + 1));
    for (std::int64_t i = 0; i < sizes.convolutions_per_stage[stage]; ++i) {
      const std::int64_t channels = sizes.channels_per_stage[stage];
      image = writer.convolution(next(), image, channels, square_window(3, 1, 1), true);
      if (sizes.batch_norm) image.data = writer.batch_norm(next(), image.data, channels);
      image.data = writer.relu(next(), image.data);
    }
    image = writer.max_pool(next(), image, square_window(2, 2, 0));
  }
  return image;
}

}  // namespace

void build_vgg(Model& model, const Sizes& sizes) {
  const VggSizes checked(sizes);
  ModelWriter writer(model);
  Image image = vgg_features(writer, checked, input_images(model, checked.channels, checked.image, checked.image));
  writer.begin_layer("classifier");
  image = writer.average_pool("avgpool", image, checked.classifier_pool, checked.classifier_pool);
  Activation x = image.data;
  std::int64_t features = image.channels * checked.classifier_pool * checked.classifier_pool;
  for (const int index : {0, 3}) {  // as torchvision numbers them: ReLU and dropout stand between
    x = writer.linear(fmt::format("classifier.{}", index), x, model.micro_batch, features, checked.classifier_width,
                      true);
    x = writer.relu(fmt::format("classifier.{}", index + 1), x);
    if (checked.dropout) x = writer.dropout(fmt::format("classifier.{}", index + 2), x);
    features = checked.classifier_width;
  }
  const Activation logits = writer.linear("classifier.6", x, model.micro_batch, features, checked.classes, true);
  writer.cross_entropy("loss", logits, model.micro_batch);
}

}  // namespace foretrain::models
