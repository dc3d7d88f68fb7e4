#include "models/recurrent.h"

#include <fmt/format.h>

#include "models/ctc_loss.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct CrnnSizes {
  std::int64_t height, width, channels;
  std::vector<std::int64_t> convolution_channels, kernels, batch_norm, pool_height, pool_width;
  std::int64_t lstm_layers, lstm_hidden, symbols, target_length;
  bool bidirectional;

  explicit CrnnSizes(const Sizes& sizes)
      : height(sizes.integer("image_height", 1, 16384)),
        width(sizes.integer("image_width", 1, 1 << 20)),
        channels(sizes.integer("image_channels", 1, 4096)),
        convolution_channels(sizes.list("convolution_channels", 1, 65536)),
        kernels(sizes.list("convolution_kernel", 1, 31)),
        batch_norm(sizes.list("batch_norm", 0, 1)),
        pool_height(sizes.list("pool_height", 1, 64)),
        pool_width(sizes.list("pool_width", 1, 64)),
        lstm_layers(sizes.integer("lstm_layers", 1, 64)),
        lstm_hidden(sizes.integer("lstm_hidden", 1, 65536)),
        symbols(sizes.integer("symbols", 1, 1 << 22)),
        target_length(sizes.integer("target_length", 1, 1 << 20)),
        bidirectional(sizes.flag("bidirectional")) {
    sizes.allow_only({"image_height", "image_width", "image_channels", "convolution_channels", "convolution_kernel",
                      "batch_norm", "pool_height", "pool_width", "lstm_layers", "lstm_hidden", "symbols",
                      "target_length", "bidirectional"});
    same_length(sizes, "convolution_kernel", kernels);
    same_length(sizes, "batch_norm", batch_norm);
    same_length(sizes, "pool_height", pool_height);
    same_length(sizes, "pool_width", pool_width);
    check_extents(sizes);
  }

  [[nodiscard]] std::int64_t padding(std::size_t i) const { return (kernels[i] - 1) / 2; }

 private:
  void same_length(const Sizes& sizes, const std::string& key, const std::vector<std::int64_t>& list) const {
    if (list.size() == convolution_channels.size()) return;
    sizes.fail({key}, fmt::format("{} numbers for {} convolutions", list.size(), convolution_channels.size()));
  }

  // Follows the image through all convolutions and poolings: the height must end as 1, the width as steps.
  void check_extents(const Sizes& sizes) const {
    std::int64_t h = height, w = width;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      h = window_output(h, kernels[i], 1, padding(i)) / pool_height[i];
      w = window_output(w, kernels[i], 1, padding(i)) / pool_width[i];
    }
    if (h != 1) {
      sizes.fail({"image_height"},
                 fmt::format("convolutions and poolings turn a height of {} into {}; it must become 1", height, h));
    }
    if (w < target_length) {
      sizes.fail({"target_length", "image_width"},
                 fmt::format("{} symbols per line, but the image gives only {} time steps", target_length, w));
    }
  }
};

Image write_convolutions(ModelWriter& writer, const CrnnSizes& sizes, Image image) {
  for (std::size_t i = 0; i < sizes.kernels.size(); ++i) {
    const std::string index = fmt::format("{}", i);
    writer.begin_layer("conv" + index);
    const Window window = square_window(sizes.kernels[i], 1, sizes.padding(i));
    image = writer.convolution("cnn.conv" + index, image, sizes.convolution_channels[i], window, true);
    if (sizes.batch_norm[i] == 1) {
      image.data = writer.batch_norm("cnn.batchnorm" + index, image.data, image.channels);
    }
    image.data = writer.relu("cnn.relu" + index, image.data);
    if (sizes.pool_height[i] > 1 || sizes.pool_width[i] > 1) {
      const Window pool{sizes.pool_height[i], sizes.pool_width[i], sizes.pool_height[i], sizes.pool_width[i], 0, 0};
      image = writer.max_pool("cnn.pooling" + index, image, pool);
    }
  }
  return image;
}

}  // namespace

void build_crnn(Model& model, const Sizes& sizes) {
  const CrnnSizes checked(sizes);
  model.sample_unit = "line";
  model.sample_elements = real(checked.channels) * real(checked.height) * real(checked.width);
  const double elements = real(model.micro_batch) * model.sample_elements;

  ModelWriter writer(model);
  const Image image =
      write_convolutions(writer, checked, {checked.channels, checked.height, checked.width, {elements, false}});

  RecurrentShape lstm;
  lstm.batch = model.micro_batch;
  lstm.steps = image.width;
  lstm.input = image.channels;
  lstm.hidden = checked.lstm_hidden;
  lstm.directions = checked.bidirectional ? 2 : 1;
  writer.begin_layer("rnn");
  Activation x = writer.copy("map_to_sequence", image.data);  // time first
  for (int layer = 0; layer < static_cast<int>(checked.lstm_layers); ++layer) {
    x = writer.lstm("rnn", x, lstm, layer);
    lstm.input = lstm.directions * lstm.hidden;
  }

  writer.begin_layer("head");
  const std::int64_t classes = checked.symbols + 1;  // and the blank
  const Activation logits = writer.linear("fc", x, model.micro_batch * lstm.steps, lstm.input, classes, true);
  write_ctc_loss(writer, logits, lstm.steps, checked.target_length);
}

}  // namespace foretrain::models
