// What convolutional networks share: their inputs, a convolution with its norm, the classifier at the end.
#pragma once

#include <cstdint>
#include <string>

#include "models/model_writer.h"

namespace foretrain::models {

inline constexpr std::int64_t largest_image = 16384;
inline constexpr std::int64_t most_channels = 65536;
inline constexpr std::int64_t most_classes = 1 << 22;
inline constexpr std::int64_t most_blocks = 1000;

// Sets the model's sample to an image of these sizes and returns a micro-batch of them.
[[nodiscard]] Image input_images(Model& model, std::int64_t channels, std::int64_t height, std::int64_t width);

// A convolution without bias and a batch norm after it, named on their own; the second also a ReLU.
Image convolution_norm(ModelWriter& writer, const std::string& name, const std::string& norm, Image& input,
                       std::int64_t channels, const Window& window, std::int64_t groups = 1);
Image convolution_norm_relu(ModelWriter& writer, const std::string& name, const std::string& norm,
                            const std::string& relu, Image& input, std::int64_t channels, const Window& window,
                            std::int64_t groups = 1);

// A convolution with bias and a ReLU.
Image convolution_relu(ModelWriter& writer, const std::string& name, const std::string& relu, Image& input,
                       std::int64_t channels, const Window& window);

// The mean over the image, dropout if asked, one linear layer `name` over classes, and the loss.
void write_image_classifier(ModelWriter& writer, const std::string& name, const Image& image, std::int64_t classes,
                            bool dropout);

}  // namespace foretrain::models
