#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/speech_synthesis.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct TacotronSizes {
  std::int64_t text, frames, symbols, mels, embedding, encoder_convolutions, kernel, prenet, attention_hidden,
      decoder_hidden, attention, location_filters, location_kernel, postnet_width, postnet_convolutions;

  explicit TacotronSizes(const Sizes& sizes)
      : text(sizes.integer("text", 1, 1 << 20)),
        frames(sizes.integer("frames", 1, 1 << 20)),
        symbols(sizes.integer("symbols", 1, 1 << 22)),
        mels(sizes.integer("mels", 1, 4096)),
        embedding(sizes.integer("embedding", 2, most_channels)),
        encoder_convolutions(sizes.integer("encoder_convolutions", 1, most_blocks)),
        kernel(sizes.integer("kernel", 1, 999)),
        prenet(sizes.integer("prenet", 1, most_channels)),
        attention_hidden(sizes.integer("attention_hidden", 1, most_channels)),
        decoder_hidden(sizes.integer("decoder_hidden", 1, most_channels)),
        attention(sizes.integer("attention", 1, most_channels)),
        location_filters(sizes.integer("location_filters", 1, most_channels)),
        location_kernel(sizes.integer("location_kernel", 1, 999)),
        postnet_width(sizes.integer("postnet_width", 1, most_channels)),
        postnet_convolutions(sizes.integer("postnet_convolutions", 2, most_blocks)) {
    sizes.allow_only({"text", "frames", "symbols", "mels", "embedding", "encoder_convolutions", "kernel", "prenet",
                      "attention_hidden", "decoder_hidden", "attention", "location_filters", "location_kernel",
                      "postnet_width", "postnet_convolutions"});
    if (embedding % 2 != 0) sizes.fail({"embedding"}, "the encoder's two directions share the embedding's width");
  }
};

class TacotronBuilder {
 public:
  TacotronBuilder(ModelWriter& writer, const TacotronSizes& sizes)
      : writer_(writer), sizes_(sizes), batch_(writer.micro_batch()) {}

  void build() {
    Activation memory = encoder();
    prenet();
    decoder(memory);
    postnet();
    writer_.begin_layer("loss");
    const double n = real(batch_) * real(sizes_.frames) * real(sizes_.mels);
    // Mean squares of the spectrograms before and after the postnet, and of the gate its cross entropy.
    Operator& loss = writer_.pass("loss", OperatorKind::loss, 4 * n, 2 * n, 6 * n, 1);
    loss.saved_elements = 2 * n;
    loss.kernels_forward = loss.kernels_backward = 5;
  }

 private:
  // A convolution over time with bias, a norm, an activation (none after the last of the postnet), dropout.
  enum class After { relu, tanh, nothing };
  Image convolution(const std::string& name, Image& x, std::int64_t channels, After after) {
    const Window window{1, sizes_.kernel, 1, 1, 0, (sizes_.kernel - 1) / 2};
    Image y = writer_.convolution(name + ".0", x, channels, window, true);
    y.data = writer_.batch_norm(name + ".1", y.data, channels);
    if (after == After::relu) y.data = writer_.relu(name + ".relu", y.data);
    if (after == After::tanh) y.data = writer_.tanh(name + ".tanh", y.data);
    y.data = writer_.dropout(name + ".dropout", y.data);
    return y;
  }

  Activation encoder() {
    writer_.begin_layer("encoder");
    const Activation words =
        writer_.embedding("embedding", batch_ * sizes_.text, sizes_.symbols, sizes_.embedding, false);
    Image x{sizes_.embedding, 1, sizes_.text, words};
    for (std::int64_t i = 0; i < sizes_.encoder_convolutions; ++i) {
      x = convolution(fmt::format("encoder.convolutions.{}", i), x, sizes_.embedding, After::relu);
    }
    RecurrentShape lstm;
    lstm.batch = batch_;
    lstm.steps = sizes_.text;
    lstm.input = sizes_.embedding;
    lstm.hidden = sizes_.embedding / 2;
    lstm.directions = 2;
    return writer_.lstm("encoder.lstm", x.data, lstm, 0);
  }

  // The true frames are known in training, so their layers run once for all.
  void prenet() {
    writer_.begin_layer("decoder.prenet");
    const std::int64_t rows = batch_ * sizes_.frames;
    Activation x{real(rows) * real(sizes_.mels), false};
    std::int64_t in = sizes_.mels;
    for (int i = 0; i < 2; ++i) {
      const std::string name = fmt::format("decoder.prenet.layers.{}", i);
      x = writer_.linear(name, x, rows, in, sizes_.prenet, false);
      if (i == 0) writer_.last_operator().needs_input_gradient = false;
      x = writer_.relu(name + ".relu", x);
      x = writer_.dropout(name + ".dropout", x);
      in = sizes_.prenet;
    }
  }

  // --- the decoder's frames: every operator stands for its calls in all of them, one after the other ---

  void per_frame(double kernels_forward, double kernels_backward) {
    Operator& op = writer_.last_operator();
    op.sequential_steps = real(sizes_.frames);
    op.kernels_forward = kernels_forward * real(sizes_.frames);
    op.kernels_backward = kernels_backward * real(sizes_.frames);
  }

  void cell(const std::string& name, std::int64_t input, std::int64_t hidden) {
    const double rows = real(batch_) * real(sizes_.frames);
    Activation x = writer_.copy(name + ".cat", {rows * real(input), false});
    per_frame(1, 2);
    RecurrentShape lstm;
    lstm.batch = batch_;
    lstm.steps = sizes_.frames;
    lstm.input = input;
    lstm.hidden = hidden;
    const Activation h = writer_.lstm(name, x, lstm, 0);
    writer_.last_operator().kernels_forward = 3 * real(sizes_.frames);   // two products, the gates
    writer_.last_operator().kernels_backward = 6 * real(sizes_.frames);  // four products, gates, biases
    writer_.dropout(name + ".dropout", h);
    per_frame(1, 1);
  }

  // A product with the same weights in every frame, over `rows` vectors of each sample.
  Activation linear(const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out, bool bias) {
    Activation x{real(batch_) * real(sizes_.frames) * real(rows) * real(in), false};
    const Activation y = writer_.linear(name, x, batch_ * sizes_.frames * rows, in, out, bias);
    writer_.last_operator().shape = GemmShape{sizes_.frames, batch_ * rows, out, in};
    per_frame(1, bias ? 3 : 2);
    return y;
  }

  void decoder(Activation& memory) {
    writer_.begin_layer("decoder");
    const std::int64_t text_rows = batch_ * sizes_.text, width = sizes_.attention;
    writer_.linear("decoder.attention_layer.memory_layer", memory, text_rows, sizes_.embedding, width, false);
    cell("decoder.attention_rnn", sizes_.prenet + sizes_.embedding, sizes_.attention_hidden);
    attention(memory);
    const std::int64_t out = sizes_.decoder_hidden + sizes_.embedding;
    cell("decoder.decoder_rnn", sizes_.attention_hidden + sizes_.embedding, sizes_.decoder_hidden);
    linear("decoder.linear_projection", 1, out, sizes_.mels, true);
    linear("decoder.gate_layer", 1, out, 1, true);
  }

  // Scores from query, text and the weights so far, seen through a convolution; their softmax weighs the text.
  void attention(Activation& memory) {
    const std::string name = "decoder.attention_layer.";
    const std::int64_t filters = sizes_.location_filters, width = sizes_.attention, text = sizes_.text;
    const double places = real(batch_) * real(sizes_.frames) * real(text), n = places * real(width);
    linear(name + "query_layer", 1, sizes_.attention_hidden, width, false);
    constexpr std::int64_t previous_and_sum = 2;
    linear(name + "location_conv", text, previous_and_sum * sizes_.location_kernel, filters, false);
    writer_.last_operator().saved_elements = previous_and_sum * places;
    writer_.last_operator().parameters.front().shape = {filters, previous_and_sum, sizes_.location_kernel};
    linear(name + "location_dense", text, filters, width, false);
    writer_.pass(name + "energies", OperatorKind::elementwise, 4 * n, 3 * n, 6 * n, n);
    per_frame(3, 3);
    linear(name + "v", text, width, 1, false);
    writer_.pass(name + "softmax", OperatorKind::elementwise, 2 * places, 2 * places, 4 * places, places)
        .saved_elements = places;
    per_frame(2, 2);  // with the mask
    Activation weights{places, true};
    writer_.products(name + "context", weights, memory, {batch_ * sizes_.frames, 1, sizes_.embedding, text});
    per_frame(1, 2);
    writer_.pass(name + "cumulative", OperatorKind::elementwise, 4 * places, 3 * places, 4 * places, places);
    per_frame(2, 2);
  }

  void postnet() {
    writer_.begin_layer("postnet");
    Image x{sizes_.mels, 1, sizes_.frames, {real(batch_) * real(sizes_.mels) * real(sizes_.frames), false}};
    for (std::int64_t i = 0; i < sizes_.postnet_convolutions; ++i) {
      const bool last = i + 1 == sizes_.postnet_convolutions;
      x = convolution(fmt::format("postnet.convolutions.{}", i), x, last ? sizes_.mels : sizes_.postnet_width,
                      last ? After::nothing : After::tanh);
    }
    writer_.residual("postnet.add", x.data);
  }

  ModelWriter& writer_;
  const TacotronSizes& sizes_;
  std::int64_t batch_;
};

}  // namespace

void build_tacotron2(Model& model, const Sizes& sizes) {
  const TacotronSizes checked(sizes);
  model.sample_unit = "utterance";
  constexpr double index_elements = 4;  // eight bytes
  model.sample_elements = index_elements * real(checked.text) + real(checked.frames) * real(checked.mels);
  ModelWriter writer(model);
  TacotronBuilder(writer, checked).build();
}

}  // namespace foretrain::models
