#include "models/convnet.h"

#include <fmt/format.h>

#include "models/model_writer.h"

namespace foretrain::models {
namespace {

constexpr std::int64_t largest_image = 16384;
constexpr std::int64_t most_channels = 65536;
constexpr std::int64_t most_classes = 1 << 22;

double real(std::int64_t count) { return static_cast<double>(count); }

Image input_images(Model& model, std::int64_t channels, std::int64_t extent) {
  model.sample_unit = "image";
  model.sample_elements = real(channels) * real(extent) * real(extent);
  return {channels, extent, extent, {real(model.micro_batch) * model.sample_elements, false}};
}

// --- ResNet -----------------------------------------------------------------------------------------

struct ResNetSizes {
  std::int64_t image, channels, classes, width;
  std::vector<std::int64_t> blocks_per_stage;
  bool bottleneck, stride_in_3x3;

  explicit ResNetSizes(const Sizes& sizes)
      : image(sizes.integer("image", 32, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 1, most_classes)),
        width(sizes.integer("width", 1, 4096)),
        blocks_per_stage(sizes.list("blocks_per_stage", 1, 1000)),
        bottleneck(sizes.flag("bottleneck")),
        stride_in_3x3(sizes.flag("stride_in_3x3")) {
    sizes.allow_only({"image", "channels", "classes", "width", "blocks_per_stage", "bottleneck", "stride_in_3x3"});
    constexpr std::size_t most_stages = 8;  // the channels double at each
    if (blocks_per_stage.size() > most_stages) {
      sizes.fail({"blocks_per_stage"}, fmt::format("expected at most {} stages", most_stages));
    }
  }
};

class ResNetBuilder {
 public:
  ResNetBuilder(Model& model, const ResNetSizes& sizes) : writer_(model), sizes_(sizes) {}

  void build(Image image) {
    writer_.begin_layer("stem");
    image = convolution_norm("conv1", "bn1", image, sizes_.width, square_window(7, 2, 3));
    image.data = writer_.relu("relu", image.data);
    image = writer_.max_pool("maxpool", image, square_window(3, 2, 1));
    for (std::size_t stage = 0; stage < sizes_.blocks_per_stage.size(); ++stage) {
      const std::int64_t width = sizes_.width << stage;
      for (std::int64_t block = 0; block < sizes_.blocks_per_stage[stage]; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        image = residual_block(fmt::format("layer{}.{}", stage + 1, block), image, width, stride);
      }
    }
    classifier(image);
  }

 private:
  Image convolution_norm(const std::string& name, const std::string& norm, Image& input, std::int64_t channels,
                         const Window& window) {
    Image output = writer_.convolution(name, input, channels, window, false);
    output.data = writer_.batch_norm(norm, output.data, channels);
    return output;
  }

  Image residual_block(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
    writer_.begin_layer(name);
    Image branch =
        sizes_.bottleneck ? bottleneck_branch(name, input, width, stride) : basic_branch(name, input, width, stride);
    if (stride != 1 || input.channels != branch.channels) {
      convolution_norm(name + ".downsample.0", name + ".downsample.1", input, branch.channels,
                       square_window(1, stride, 0));
    }
    branch.data = writer_.residual(name + ".add", branch.data);
    branch.data = writer_.relu(name + ".relu_out", branch.data);
    return branch;
  }

  Image bottleneck_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
    const std::int64_t first_stride = sizes_.stride_in_3x3 ? 1 : stride;
    const std::int64_t second_stride = sizes_.stride_in_3x3 ? stride : 1;
    Image x = convolution_norm(name + ".conv1", name + ".bn1", input, width, square_window(1, first_stride, 0));
    x.data = writer_.relu(name + ".relu1", x.data);
    x = convolution_norm(name + ".conv2", name + ".bn2", x, width, square_window(3, second_stride, 1));
    x.data = writer_.relu(name + ".relu2", x.data);
    constexpr std::int64_t expansion = 4;
    return convolution_norm(name + ".conv3", name + ".bn3", x, expansion * width, square_window(1, 1, 0));
  }

  Image basic_branch(const std::string& name, Image& input, std::int64_t width, std::int64_t stride) {
    Image x = convolution_norm(name + ".conv1", name + ".bn1", input, width, square_window(3, stride, 1));
    x.data = writer_.relu(name + ".relu1", x.data);
    return convolution_norm(name + ".conv2", name + ".bn2", x, width, square_window(3, 1, 1));
  }

  void classifier(Image& image) {
    writer_.begin_layer("classifier");
    const std::int64_t rows = writer_.micro_batch();
    image = writer_.average_pool("avgpool", image, 1, 1);
    const Activation logits = writer_.linear("fc", image.data, rows, image.channels, sizes_.classes, true);
    writer_.cross_entropy("loss", logits, rows);
  }

  ModelWriter writer_;
  const ResNetSizes& sizes_;
};

// --- VGG --------------------------------------------------------------------------------------------

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
        convolutions_per_stage(sizes.list("convolutions_per_stage", 1, 1000)),
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

void build_resnet(Model& model, const Sizes& sizes) {
  const ResNetSizes checked(sizes);
  const Image images = input_images(model, checked.channels, checked.image);
  ResNetBuilder(model, checked).build(images);
}

void build_vgg(Model& model, const Sizes& sizes) {
  const VggSizes checked(sizes);
  ModelWriter writer(model);
  Image image = vgg_features(writer, checked, input_images(model, checked.channels, checked.image));
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
