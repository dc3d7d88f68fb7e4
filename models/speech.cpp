#include "models/speech.h"

#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/ctc_loss.h"

namespace foretrain::models {
namespace {

struct JasperSizes {
  std::int64_t frames, features, symbols, target_length, prologue_channels, prologue_kernel;
  std::vector<std::int64_t> block_channels, block_kernel;
  std::int64_t repeats, epilogue_channels, epilogue_kernel, last_channels;
  bool separable, dense_residual, dropout;

  explicit JasperSizes(const Sizes& sizes)
      : frames(sizes.integer("frames", 2, 1 << 20)),
        features(sizes.integer("features", 1, 4096)),
        symbols(sizes.integer("symbols", 1, 1 << 22)),
        target_length(sizes.integer("target_length", 1, 1 << 20)),
        prologue_channels(sizes.integer("prologue_channels", 1, most_channels)),
        prologue_kernel(sizes.integer("prologue_kernel", 1, 999)),
        block_channels(sizes.list("block_channels", 1, most_channels)),
        block_kernel(sizes.list("block_kernel", 1, 999)),
        repeats(sizes.integer("repeats", 1, most_blocks)),
        epilogue_channels(sizes.integer("epilogue_channels", 1, most_channels)),
        epilogue_kernel(sizes.integer("epilogue_kernel", 1, 999)),
        last_channels(sizes.integer("last_channels", 1, most_channels)),
        separable(sizes.flag("separable")),
        dense_residual(sizes.flag("dense_residual")),
        dropout(sizes.flag("dropout")) {
    sizes.allow_only({"frames", "features", "symbols", "target_length", "prologue_channels", "prologue_kernel",
                      "block_channels", "block_kernel", "repeats", "epilogue_channels", "epilogue_kernel",
                      "last_channels", "separable", "dense_residual", "dropout"});
    if (block_kernel.size() != block_channels.size()) {
      sizes.fail({"block_kernel"}, fmt::format("{} numbers for {} blocks", block_kernel.size(), block_channels.size()));
    }
    if (target_length > (frames + 1) / 2) {
      sizes.fail({"target_length", "frames"},
                 fmt::format("{} symbols, but the frames give only {} time steps", target_length, (frames + 1) / 2));
    }
  }
};

// Frames stand as images of height 1. A dilated convolution has the counts of one without, padded to keep its
// extent.
Window over_time(std::int64_t kernel, std::int64_t stride) { return {1, kernel, 1, stride, 0, (kernel - 1) / 2}; }

class JasperBuilder {
 public:
  JasperBuilder(ModelWriter& writer, const JasperSizes& sizes) : writer_(writer), sizes_(sizes) {}

  Image build(Image x) {
    writer_.begin_layer("encoder.0");
    x = active("encoder.0.0", convolution("encoder.0.0", x, sizes_.prologue_channels, sizes_.prologue_kernel, 2));
    std::vector<Image> inputs;  // of the blocks so far
    for (std::size_t i = 0; i < sizes_.block_channels.size(); ++i) {
      if (!sizes_.dense_residual) inputs.clear();
      inputs.push_back(x);
      x = block(fmt::format("encoder.{}", i + 1), inputs, sizes_.block_channels[i], sizes_.block_kernel[i]);
    }
    writer_.begin_layer("encoder.epilogue");
    x = active("encoder.epilogue.0",
               convolution("encoder.epilogue.0", x, sizes_.epilogue_channels, sizes_.epilogue_kernel, 1));
    const Image last = convolution_norm(writer_, "encoder.epilogue.1.conv", "encoder.epilogue.1.norm", x,
                                        sizes_.last_channels, over_time(1, 1));
    return active("encoder.epilogue.1", last);
  }

 private:
  // With its batch norm; separable: depthwise first.
  Image convolution(const std::string& name, Image& x, std::int64_t channels, std::int64_t kernel,
                    std::int64_t stride) {
    const Window window = over_time(kernel, stride);
    if (!sizes_.separable) return convolution_norm(writer_, name + ".conv", name + ".norm", x, channels, window);
    Image deep = writer_.convolution(name + ".depthwise", x, x.channels, window, false, x.channels);
    return convolution_norm(writer_, name + ".pointwise", name + ".norm", deep, channels, over_time(1, 1));
  }

  Image active(const std::string& name, Image x) {
    x.data = writer_.relu(name + ".relu", x.data);
    if (sizes_.dropout) x.data = writer_.dropout(name + ".dropout", x.data);
    return x;
  }

  Image block(const std::string& name, std::vector<Image>& inputs, std::int64_t channels, std::int64_t kernel) {
    writer_.begin_layer(name);
    Image x = inputs.back();
    for (std::int64_t i = 0; i < sizes_.repeats; ++i) {
      const std::string part = fmt::format("{}.{}", name, i);
      x = convolution(part, i == 0 ? inputs.back() : x, channels, kernel, 1);
      if (i + 1 < sizes_.repeats) x = active(part, x);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string residual = fmt::format("{}.res.{}", name, i);
      convolution_norm(writer_, residual + ".conv", residual + ".norm", inputs[i], channels, over_time(1, 1));
      x.data = writer_.residual(residual + ".add", x.data);
    }
    return active(name, x);
  }

  ModelWriter& writer_;
  const JasperSizes& sizes_;
};

}  // namespace

void build_jasper(Model& model, const Sizes& sizes) {
  const JasperSizes checked(sizes);
  const Image frames = input_images(model, checked.features, 1, checked.frames);
  model.sample_unit = "utterance";
  ModelWriter writer(model);
  Image x = JasperBuilder(writer, checked).build(frames);
  writer.begin_layer("decoder");
  const Image logits = writer.convolution("decoder.0", x, checked.symbols + 1, over_time(1, 1), true);
  write_ctc_loss(writer, logits.data, logits.width, checked.target_length);
}

}  // namespace foretrain::models
