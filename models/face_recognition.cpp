#include "models/face_recognition.h"

#include <fmt/format.h>

#include "models/inverted_residual.h"
#include "models/margin_classifier.h"

namespace foretrain::models {
namespace {

// Norm, 3×3, norm, PReLU, 3×3 that may halve the image, norm; the input is added.
Image face_block(ModelWriter& writer, const std::string& name, Image& input, std::int64_t channels,
                 std::int64_t stride) {
  writer.begin_layer(name);
  Image x{input.channels, input.height, input.width, writer.batch_norm(name + ".bn1", input.data, input.channels)};
  x = convolution_norm(writer, name + ".conv1", name + ".bn2", x, channels, square_window(3, 1, 1));
  x.data = writer.prelu(name + ".prelu", x.data, channels);
  x = convolution_norm(writer, name + ".conv2", name + ".bn3", x, channels, square_window(3, stride, 1));
  if (stride != 1 || input.channels != channels) {
    convolution_norm(writer, name + ".downsample.0", name + ".downsample.1", input, channels,
                     square_window(1, stride, 0));
  }
  x.data = writer.residual(name + ".add", x.data);
  return x;
}

std::vector<std::string> with_keys(std::vector<std::string> keys, const std::vector<std::string>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

}  // namespace

void build_face_resnet(Model& model, const Sizes& sizes) {
  sizes.allow_only(with_keys(MarginClassifier::keys(), {"image", "channels", "width", "blocks_per_stage"}));
  const std::int64_t extent = sizes.integer("image", 16, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t width = sizes.integer("width", 1, 4096);
  const std::vector<std::int64_t> blocks = sizes.list("blocks_per_stage", 1, most_blocks);
  if (blocks.size() > 8) sizes.fail({"blocks_per_stage"}, "expected at most 8 stages");
  const MarginClassifier classifier(sizes);

  ModelWriter writer(model);
  writer.begin_layer("stem");
  Image image = input_images(model, channels, extent, extent);
  image = convolution_norm(writer, "conv1", "bn1", image, width, square_window(3, 1, 1));
  image.data = writer.prelu("prelu", image.data, width);
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    for (std::int64_t i = 0; i < blocks[stage]; ++i) {
      image = face_block(writer, fmt::format("layer{}.{}", stage + 1, i), image, width << stage, i == 0 ? 2 : 1);
    }
  }
  writer.begin_layer("embedding");
  image.data = writer.batch_norm("bn2", image.data, image.channels);
  const std::int64_t features = image.channels * image.height * image.width;
  Activation x = writer.linear("fc", image.data, model.micro_batch, features, classifier.embedding, true);
  x = writer.batch_norm("features", x, classifier.embedding);
  writer.last_operator().parameters.erase(writer.last_operator().parameters.begin());  // its scale is fixed
  classifier.write(writer, x);
}

void build_mobile_facenet(Model& model, const Sizes& sizes) {
  sizes.allow_only(with_keys(with_keys(MarginClassifier::keys(), InvertedResidualStages::keys()),
                             {"image", "channels", "stem_channels", "head_channels"}));
  const std::int64_t extent = sizes.integer("image", 16, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t stem = sizes.integer("stem_channels", 1, most_channels);
  const std::int64_t head = sizes.integer("head_channels", 1, most_channels);
  const InvertedResidualStages stages(sizes);
  const MarginClassifier classifier(sizes);

  ModelWriter writer(model);
  constexpr ConvolutionActivation prelu = ConvolutionActivation::prelu, none = ConvolutionActivation::none;
  writer.begin_layer("stem");
  Image image = input_images(model, channels, extent, extent);
  image = convolution_norm_activation(writer, "stem.conv", image, stem, square_window(3, 2, 1), 1, prelu);
  image = convolution_norm_activation(writer, "stem.depthwise", image, stem, square_window(3, 1, 1), stem, prelu);
  InvertedResidualShape block;
  block.activation = prelu;
  image = write_stages(writer, "stages", image, stages, block);
  writer.begin_layer("embedding");
  image = convolution_norm_activation(writer, "head", image, head, square_window(1, 1, 0), 1, prelu);
  // A depthwise convolution over the whole image in place of a mean, then the embedding; both without activation.
  const Window whole{image.height, image.width, 1, 1, 0, 0};
  image = convolution_norm_activation(writer, "global_depthwise", image, head, whole, head, none);
  image =
      convolution_norm_activation(writer, "embedding", image, classifier.embedding, square_window(1, 1, 0), 1, none);
  classifier.write(writer, image.data);
}

}  // namespace foretrain::models
