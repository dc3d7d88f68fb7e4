#include <fmt/format.h>

#include "models/recurrent.h"
#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct GnmtSizes {
  std::int64_t layers, hidden, vocabulary;
  bool dropout, label_smoothing;

  explicit GnmtSizes(const Sizes& sizes)
      : layers(sizes.integer("layers", 2, most_layers)),
        hidden(sizes.integer("hidden", 1, widest_hidden)),
        vocabulary(sizes.integer("vocabulary", 1, largest_vocabulary)),
        dropout(sizes.flag("dropout")),
        label_smoothing(sizes.flag("label_smoothing")) {
    sizes.allow_only({"layers", "hidden", "vocabulary", "sequence", "dropout", "label_smoothing"});
  }
};

class GnmtBuilder {
 public:
  GnmtBuilder(ModelWriter& writer, const GnmtSizes& sizes, std::int64_t batch, std::int64_t tokens)
      : writer_(writer), sizes_(sizes), batch_(batch), tokens_(tokens) {}

  void build() {
    Activation memory = encoder();
    Activation x = decoder(memory);
    writer_.begin_layer("decoder.classifier");
    const Activation logits = writer_.linear("decoder.classifier", x, rows(), sizes_.hidden, sizes_.vocabulary, true);
    writer_.cross_entropy("loss", logits, rows());
    if (sizes_.label_smoothing) write_label_smoothing(writer_, logits);
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return batch_ * tokens_; }

  Activation embedding(const std::string& name) {
    writer_.begin_layer(name);
    return writer_.embedding(name, rows(), sizes_.vocabulary, sizes_.hidden, true);
  }

  // Dropout on the input, then the LSTM.
  Activation lstm(const std::string& name, Activation x, std::int64_t input, std::int64_t directions = 1) {
    writer_.begin_layer(name);
    if (sizes_.dropout) x = writer_.dropout(name + ".dropout", x);
    RecurrentShape shape;
    shape.batch = batch_;
    shape.steps = tokens_;
    shape.input = input;
    shape.hidden = sizes_.hidden;
    shape.directions = directions;
    return writer_.lstm(name, x, shape, 0);
  }

  // The first layer reads both directions; from the third on the input is added to the output.
  Activation encoder() {
    Activation x = lstm("encoder.rnn_layers.0", embedding("encoder.embedder"), sizes_.hidden, 2);
    x = lstm("encoder.rnn_layers.1", x, 2 * sizes_.hidden);
    for (std::int64_t i = 2; i < sizes_.layers; ++i) {
      const std::string name = fmt::format("encoder.rnn_layers.{}", i);
      x = writer_.residual(name + ".add", lstm(name, x, sizes_.hidden));
    }
    return x;
  }

  // The first layer's output attends to the encoder's; every later layer reads the attention's result beside its
  // input, and from the third on adds its input.
  Activation decoder(Activation& memory) {
    const Activation words = embedding("decoder.embedder");
    writer_.use_weights_of("encoder.embedder");
    Activation x = lstm("decoder.att_rnn.rnn", words, sizes_.hidden);
    attention(x, memory);
    for (std::int64_t i = 0; i + 1 < sizes_.layers; ++i) {
      const std::string name = fmt::format("decoder.rnn_layers.{}", i);
      Activation both{2 * x.elements, false};
      both = writer_.copy(name + ".cat", both);
      x = lstm(name, both, 2 * sizes_.hidden);
      if (i > 0) x = writer_.residual(name + ".add", x);
    }
    return x;
  }

  // Bahdanau's, normalised: the score of a query and a key is a vector times tanh of their sum.
  void attention(Activation& x, Activation& memory) {
    const std::string name = "decoder.att_rnn.attn";
    const std::int64_t h = sizes_.hidden;
    writer_.linear(name + ".linear_q", x, rows(), h, h, false);
    writer_.linear(name + ".linear_k", memory, rows(), h, h, false);
    const double pairs = real(batch_) * real(tokens_) * real(tokens_), n = pairs * real(h);
    // Sum of query and key, bias added, tanh; back tanh, and the sums over keys and over queries.
    Operator& sums = writer_.pass(name + ".sum_qk", OperatorKind::elementwise, 3 * n, 3 * n, 6 * n, n);
    sums.kernels_forward = sums.kernels_backward = 3;
    sums.saved_elements = n;
    sums.parameters = {{name + ".normalize_bias", {h}}, {name + ".normalize_scalar", {1}}};
    Activation tanh{n, true};
    writer_.linear(name + ".linear_att", tanh, batch_ * tokens_ * tokens_, h, 1, false);
    writer_.last_operator().parameters.front().shape = {h};
    Operator& softmax = writer_.pass(name + ".softmax", OperatorKind::elementwise, pairs, pairs, 3 * pairs, pairs);
    softmax.saved_elements = pairs;
    Activation weights{pairs, true};
    // The context is a mean of the encoder's outputs themselves.
    writer_.products(name + ".context", weights, memory, {batch_, tokens_, h, tokens_});
  }

  ModelWriter& writer_;
  const GnmtSizes& sizes_;
  std::int64_t batch_, tokens_;
};

}  // namespace

void build_gnmt(Model& model, const Sizes& sizes) {
  const GnmtSizes checked(sizes);
  resolve_sequence(model, sizes, 0);
  ModelWriter writer(model);
  GnmtBuilder(writer, checked, model.micro_batch, model.sequence).build();
}

}  // namespace foretrain::models
