#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/speech_synthesis.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct FastPitchSizes {
  std::int64_t text, frames, symbols, mels, layers, hidden, heads, head_dimension, feed_forward, kernel;
  std::int64_t predictor_width, predictor_layers;
  bool energy, aligner, dropout;

  explicit FastPitchSizes(const Sizes& sizes)
      : text(sizes.integer("text", 1, 1 << 16)),
        frames(sizes.integer("frames", 1, 1 << 20)),
        symbols(sizes.integer("symbols", 1, 1 << 22)),
        mels(sizes.integer("mels", 1, 4096)),
        layers(sizes.integer("layers", 1, most_blocks)),
        hidden(sizes.integer("hidden", 1, most_channels)),
        heads(sizes.integer("heads", 1, 4096)),
        head_dimension(sizes.integer("head_dimension", 1, 65536)),
        feed_forward(sizes.integer("feed_forward", 1, most_channels)),
        kernel(sizes.integer("kernel", 1, 99)),
        predictor_width(sizes.integer("predictor_width", 1, most_channels)),
        predictor_layers(sizes.integer("predictor_layers", 1, most_blocks)),
        energy(sizes.flag("energy")),
        aligner(sizes.flag("aligner")),
        dropout(sizes.flag("dropout")) {
    sizes.allow_only({"text", "frames", "symbols", "mels", "layers", "hidden", "heads", "head_dimension",
                      "feed_forward", "kernel", "predictor_width", "predictor_layers", "energy", "aligner", "dropout"});
    if (kernel % 2 == 0) sizes.fail({"kernel"}, "an even kernel does not keep the length", "an odd one");
  }
};

class FastPitchBuilder {
 public:
  FastPitchBuilder(ModelWriter& writer, const FastPitchSizes& sizes)
      : writer_(writer), sizes_(sizes), batch_(writer.micro_batch()) {}

  void build() {
    writer_.begin_layer("encoder.word_emb");
    Activation words =
        writer_.embedding("encoder.word_emb", batch_ * sizes_.text, sizes_.symbols, sizes_.hidden, false);
    Activation x = transformer("encoder", words, sizes_.text);
    if (sizes_.aligner) align(words);
    x = predicted("duration", x, false);
    x = predicted("pitch", x, true);
    if (sizes_.energy) x = predicted("energy", x, true);
    // Every symbol's vector is repeated for its frames: a product with a matrix of zeros and ones.
    writer_.begin_layer("length_regulator");
    Activation ones{real(batch_ * sizes_.frames * sizes_.text), true};
    x = writer_.products("length_regulator", ones, x, {batch_, sizes_.frames, sizes_.hidden, sizes_.text});
    x = transformer("decoder", x, sizes_.frames);
    writer_.begin_layer("proj");
    const Activation mel = writer_.linear("proj", x, batch_ * sizes_.frames, sizes_.hidden, sizes_.mels, true);
    loss(mel.elements);
  }

 private:
  // A convolution over time that keeps the length, with bias.
  Activation convolution(const std::string& name, Activation& x, std::int64_t length, std::int64_t in, std::int64_t out,
                         std::int64_t kernel) {
    ConvolutionShape shape;
    shape.batch = batch_;
    shape.in_channels = in;
    shape.height = shape.out_height = 1;
    shape.width = shape.out_width = length;
    shape.out_channels = out;
    shape.kernel_height = 1;
    shape.kernel_width = kernel;
    return writer_.convolution(name, x, shape, {out, in, kernel}, true);
  }

  Activation drop(const std::string& name, const Activation& x) {
    return sizes_.dropout ? writer_.dropout(name, x) : x;
  }

  // Positions are added; layers of attention and two convolutions, each with its norm behind.
  Activation transformer(const std::string& name, Activation x, std::int64_t length) {
    writer_.pass(name + ".pos_emb", OperatorKind::elementwise, x.elements, x.elements, x.elements, x.elements);
    x.kept = false;
    for (std::int64_t i = 0; i < sizes_.layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}", name, i);
      writer_.begin_layer(layer);
      x = feed_forward(layer + ".pos_ff", attention(layer + ".dec_attn", x, length), length);
    }
    return x;
  }

  Activation attention(const std::string& name, Activation x, std::int64_t length) {
    const std::int64_t rows = batch_ * length, width = sizes_.heads * sizes_.head_dimension;
    Activation qkv = writer_.linear(name + ".qkv_net", x, rows, sizes_.hidden, 3 * width, true);
    AttentionShape shape;
    shape.batch = batch_;
    shape.heads = sizes_.heads;
    shape.query_length = shape.key_length = length;
    shape.head_dimension = sizes_.head_dimension;
    shape.dropout = sizes_.dropout;
    Activation mixed = writer_.attention(name + ".core", {&qkv}, shape);
    mixed = writer_.linear(name + ".o_net", mixed, rows, width, sizes_.hidden, false);
    return normed(name, drop(name + ".drop", mixed));
  }

  Activation feed_forward(const std::string& name, Activation x, std::int64_t length) {
    Activation y = convolution(name + ".CoreNet.0", x, length, sizes_.hidden, sizes_.feed_forward, sizes_.kernel);
    y = writer_.relu(name + ".CoreNet.1", y);
    y = convolution(name + ".CoreNet.2", y, length, sizes_.feed_forward, sizes_.hidden, sizes_.kernel);
    return normed(name, drop(name + ".CoreNet.3", y));
  }

  // The sum with the branch's input, its norm, and zeros where a sequence has ended.
  Activation normed(const std::string& name, const Activation& branch) {
    Activation sum = writer_.residual(name + ".add", branch);
    const Activation y = writer_.layer_norm(name + ".layer_norm", sum, sizes_.hidden, true);
    const double n = y.elements;
    writer_.pass(name + ".mask", OperatorKind::elementwise, n, n, 2 * n, n);
    return {n, false};
  }

  // Convolutions with ReLU and norm, and a linear layer, say one number per symbol. Where it is `embedded`, the
  // true one is added to the symbol's vector.
  Activation predicted(const std::string& what, Activation& x, bool embedded) {
    const std::string name = what + "_predictor";
    writer_.begin_layer(name);
    const std::int64_t width = sizes_.predictor_width;
    Activation y = x;
    for (std::int64_t i = 0; i < sizes_.predictor_layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}", name, i);
      y = convolution(layer + ".conv", i == 0 ? x : y, sizes_.text, i == 0 ? sizes_.hidden : width, width,
                      sizes_.kernel);
      y = writer_.relu(layer + ".relu", y);
      y = writer_.layer_norm(layer + ".norm", y, width, true);
      y = drop(layer + ".dropout", y);
    }
    writer_.linear(name + ".fc", y, batch_ * sizes_.text, width, 1, true);
    if (!embedded) return x;
    Activation truth{real(batch_ * sizes_.text), false, true};
    const Activation vectors = convolution(what + "_emb", truth, sizes_.text, 1, sizes_.hidden, sizes_.kernel);
    return writer_.residual(what + "_add", vectors);
  }

  // Of every frame with every symbol: the distance of what convolutions make of them, its softmax over the symbols,
  // and a loss over all monotonic ways through (as CTC), from which the durations are read.
  void align(Activation& words) {
    writer_.begin_layer("attention");
    const std::int64_t mels = sizes_.mels;
    Activation keys = convolution("attention.key_proj.0", words, sizes_.text, sizes_.hidden, 2 * sizes_.hidden, 3);
    keys = writer_.relu("attention.key_proj.1", keys);
    keys = convolution("attention.key_proj.2", keys, sizes_.text, 2 * sizes_.hidden, mels, 1);
    Activation spectrogram{real(batch_ * sizes_.frames * mels), false, true};
    Activation queries = convolution("attention.query_proj.0", spectrogram, sizes_.frames, mels, 2 * mels, 3);
    queries = writer_.relu("attention.query_proj.1", queries);
    queries = convolution("attention.query_proj.2", queries, sizes_.frames, 2 * mels, mels, 1);
    queries = writer_.relu("attention.query_proj.3", queries);
    queries = convolution("attention.query_proj.4", queries, sizes_.frames, mels, mels, 1);
    const double pairs = real(batch_ * sizes_.frames * sizes_.text), n = pairs * real(mels);
    // Difference, square, sum over the channels; back the square, and sums over frames and over symbols.
    Operator& distance =
        writer_.pass("attention.distance", OperatorKind::elementwise, 2 * n + keys.elements, 2 * n, 4 * n, pairs);
    distance.saved_elements = n;
    distance.kernels_forward = 4;
    distance.kernels_backward = 4;
    // Log-softmax, the prior, softmax.
    Operator& softmax =
        writer_.pass("attention.softmax", OperatorKind::softmax, 5 * pairs, 4 * pairs, 9 * pairs, pairs);
    softmax.saved_elements = 2 * pairs;
    softmax.kernels_forward = softmax.kernels_backward = 4;
    Operator& ways = writer_.pass("attention.ctc_loss", OperatorKind::loss, 4 * pairs, 2 * pairs, 6 * pairs, 1);
    ways.saved_elements = 2 * pairs;
    ways.sequential_steps = real(sizes_.frames);
    ways.kernels_forward = 2 + real(batch_);  // one sample after the other
    ways.kernels_backward = 3 + real(batch_);
  }

  // Mean squares of the spectrogram, and per symbol of what was predicted, all masked.
  void loss(double n) {
    writer_.begin_layer("loss");
    Operator& loss = writer_.pass("loss", OperatorKind::loss, 4 * n, 3 * n, 4 * n, 1);
    loss.saved_elements = 2 * n;
    loss.kernels_forward = loss.kernels_backward = 20;
  }

  ModelWriter& writer_;
  const FastPitchSizes& sizes_;
  std::int64_t batch_;
};

}  // namespace

void build_fastpitch(Model& model, const Sizes& sizes) {
  const FastPitchSizes checked(sizes);
  model.sample_unit = "utterance";
  constexpr double index_elements = 4;  // eight bytes
  model.sample_elements = index_elements * real(checked.text) + real(checked.frames) * real(checked.mels);
  ModelWriter writer(model);
  FastPitchBuilder(writer, checked).build();
}

}  // namespace foretrain::models
