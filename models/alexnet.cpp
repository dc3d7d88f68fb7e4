#include <fmt/format.h>

#include "models/convnet.h"
#include "models/convolution_blocks.h"

namespace foretrain::models {
namespace {

struct AlexNetSizes {
  std::int64_t image, channels, classes;
  std::vector<std::int64_t> convolution_channels, kernels, strides, pool_after;
  std::int64_t classifier_pool, classifier_width;

  explicit AlexNetSizes(const Sizes& sizes)
      : image(sizes.integer("image", 63, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 1, most_classes)),
        convolution_channels(sizes.list("convolution_channels", 1, most_channels)),
        kernels(sizes.list("convolution_kernel", 1, 31)),
        strides(sizes.list("convolution_stride", 1, 16)),
        pool_after(sizes.list("pool_after", 0, 1)),
        classifier_pool(sizes.integer("classifier_pool", 1, 64)),
        classifier_width(sizes.integer("classifier_width", 1, 1 << 20)) {
    sizes.allow_only({"image", "channels", "classes", "convolution_channels", "convolution_kernel",
                      "convolution_stride", "pool_after", "classifier_pool", "classifier_width"});
    same_length(sizes, "convolution_kernel", kernels);
    same_length(sizes, "convolution_stride", strides);
    same_length(sizes, "pool_after", pool_after);
  }

 private:
  void same_length(const Sizes& sizes, const std::string& key, const std::vector<std::int64_t>& list) const {
    if (list.size() == convolution_channels.size()) return;
    sizes.fail({key}, fmt::format("{} numbers for {} convolutions", list.size(), convolution_channels.size()));
  }
};

// Numbered as torchvision's `features`, where ReLU and pooling count too. A strided convolution is padded
// by two, the others keep their extent.
Image alexnet_features(ModelWriter& writer, const AlexNetSizes& sizes, const Sizes& raw, Image image) {
  int index = 0;
  const auto next = [&index] { return fmt::format("features.{}", index++); };
  for (std::size_t i = 0; i < sizes.kernels.size(); ++i) {
    writer.begin_layer(fmt::format("conv{}", i + 1));
    const std::int64_t padding = sizes.strides[i] > 1 ? 2 : (sizes.kernels[i] - 1) / 2;
    const Window window = square_window(sizes.kernels[i], sizes.strides[i], padding);
    image = writer.convolution(next(), image, sizes.convolution_channels[i], window, true);
    image.data = writer.relu(next(), image.data);
    if (sizes.pool_after[i] == 1) image = writer.max_pool(next(), image, square_window(3, 2, 0));
    if (image.height < 1) raw.fail({"image"}, fmt::format("an image of {} ends before the classifier", sizes.image));
  }
  return image;
}

}  // namespace

void build_alexnet(Model& model, const Sizes& sizes) {
  const AlexNetSizes checked(sizes);
  ModelWriter writer(model);
  Image image =
      alexnet_features(writer, checked, sizes, input_images(model, checked.channels, checked.image, checked.image));
  writer.begin_layer("classifier");
  image = writer.average_pool("avgpool", image, checked.classifier_pool, checked.classifier_pool);
  Activation x = image.data;
  std::int64_t features = image.channels * checked.classifier_pool * checked.classifier_pool;
  for (const int index : {0, 3}) {  // as torchvision numbers them: dropout, linear layer, ReLU
    x = writer.dropout(fmt::format("classifier.{}", index), x);
    x = writer.linear(fmt::format("classifier.{}", index + 1), x, model.micro_batch, features, checked.classifier_width,
                      true);
    x = writer.relu(fmt::format("classifier.{}", index + 2), x);
    features = checked.classifier_width;
  }
  const Activation logits = writer.linear("classifier.6", x, model.micro_batch, features, checked.classes, true);
  writer.cross_entropy("loss", logits, model.micro_batch);
}

}  // namespace foretrain::models
