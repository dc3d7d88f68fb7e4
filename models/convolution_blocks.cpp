#include "models/convolution_blocks.h"

namespace foretrain::models {

Image input_images(Model& model, std::int64_t channels, std::int64_t height, std::int64_t width) {
  model.sample_unit = "image";
  model.sample_elements = static_cast<double>(channels) * static_cast<double>(height) * static_cast<double>(width);
  return {channels, height, width, {static_cast<double>(model.micro_batch) * model.sample_elements, false}};
}

Image convolution_norm(ModelWriter& writer, const std::string& name, const std::string& norm, Image& input,
                       std::int64_t channels, const Window& window, std::int64_t groups) {
  Image output = writer.convolution(name, input, channels, window, false, groups);
  output.data = writer.batch_norm(norm, output.data, channels);
  return output;
}

Image convolution_norm_relu(ModelWriter& writer, const std::string& name, const std::string& norm,
                            const std::string& relu, Image& input, std::int64_t channels, const Window& window,
                            std::int64_t groups) {
  Image output = convolution_norm(writer, name, norm, input, channels, window, groups);
  output.data = writer.relu(relu, output.data);
  return output;
}

Image convolution_relu(ModelWriter& writer, const std::string& name, const std::string& relu, Image& input,
                       std::int64_t channels, const Window& window) {
  Image output = writer.convolution(name, input, channels, window, true);
  output.data = writer.relu(relu, output.data);
  return output;
}

void write_image_classifier(ModelWriter& writer, const std::string& name, const Image& image, std::int64_t classes,
                            bool dropout) {
  writer.begin_layer("classifier");
  const std::int64_t rows = writer.micro_batch();
  Activation pooled = writer.average_pool("avgpool", image, 1, 1).data;
  if (dropout) pooled = writer.dropout("dropout", pooled);
  const Activation logits = writer.linear(name, pooled, rows, image.channels, classes, true);
  writer.cross_entropy("loss", logits, rows);
}

}  // namespace foretrain::models
