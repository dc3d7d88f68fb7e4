#include <fmt/format.h>

#include "models/model_writer.h"
#include "models/recurrent.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct TransducerSizes {
  std::int64_t frames, features, tokens, vocabulary, encoder_hidden, layers_before, layers_after, stacked;
  std::int64_t prediction_hidden, prediction_layers, joint_hidden;
  bool dropout;

  explicit TransducerSizes(const Sizes& sizes)
      : frames(sizes.integer("frames", 1, 1 << 20)),
        features(sizes.integer("features", 1, 1 << 16)),
        tokens(sizes.integer("tokens", 1, 1 << 16)),
        vocabulary(sizes.integer("vocabulary", 2, 1 << 22)),
        encoder_hidden(sizes.integer("encoder_hidden", 1, 1 << 16)),
        layers_before(sizes.integer("encoder_layers_before", 1, 64)),
        layers_after(sizes.integer("encoder_layers_after", 1, 64)),
        stacked(sizes.integer("stacked", 1, 64)),
        prediction_hidden(sizes.integer("prediction_hidden", 1, 1 << 16)),
        prediction_layers(sizes.integer("prediction_layers", 1, 64)),
        joint_hidden(sizes.integer("joint_hidden", 1, 1 << 16)),
        dropout(sizes.flag("dropout")) {
    sizes.allow_only({"frames", "features", "tokens", "vocabulary", "encoder_hidden", "encoder_layers_before",
                      "encoder_layers_after", "stacked", "prediction_hidden", "prediction_layers", "joint_hidden",
                      "dropout"});
    if (frames < stacked) sizes.fail({"frames", "stacked"}, "fewer frames than are stacked");
  }

  [[nodiscard]] std::int64_t steps() const { return (frames + stacked - 1) / stacked; }  // behind the stacking
};

class TransducerBuilder {
 public:
  TransducerBuilder(ModelWriter& writer, const TransducerSizes& sizes)
      : writer_(writer), sizes_(sizes), batch_(writer.micro_batch()) {}

  void build(Activation x) {
    x = lstms("encoder.pre_rnn", x, sizes_.frames, sizes_.features, sizes_.encoder_hidden, sizes_.layers_before);
    const std::int64_t steps = sizes_.steps(), wide = sizes_.stacked * sizes_.encoder_hidden;
    Activation stacked = writer_.copy("encoder.stack_time", {real(batch_ * steps) * real(wide), false});
    Activation encoded = lstms("encoder.post_rnn", stacked, steps, wide, sizes_.encoder_hidden, sizes_.layers_after);
    Activation predicted = prediction();
    joint(encoded, predicted);
  }

 private:
  // Layers with dropout between them, each a layer of the model.
  Activation lstms(const std::string& name, Activation x, std::int64_t steps, std::int64_t input, std::int64_t hidden,
                   std::int64_t layers) {
    RecurrentShape shape;
    shape.batch = batch_;
    shape.steps = steps;
    shape.input = input;
    shape.hidden = hidden;
    for (int i = 0; i < static_cast<int>(layers); ++i) {
      writer_.begin_layer(fmt::format("{}.{}", name, i));
      x = writer_.lstm(name, x, shape, i);
      if (sizes_.dropout) x = writer_.dropout(fmt::format("{}.dropout.{}", name, i), x);
      shape.input = hidden;
    }
    return x;
  }

  // Of the tokens so far; a start symbol in front, whose vector is zero.
  Activation prediction() {
    writer_.begin_layer("prediction.embed");
    const std::int64_t width = sizes_.prediction_hidden;
    writer_.embedding("prediction.embed", batch_ * sizes_.tokens, sizes_.vocabulary - 1, width, false);
    const Activation words = writer_.copy("prediction.start", {real(batch_ * predictions()) * real(width), false});
    return lstms("prediction.dec_rnn", words, predictions(), width, width, sizes_.prediction_layers);
  }

  // Every step of the encoder with every prediction: a sum, a ReLU, dropout, scores of the whole vocabulary; the
  // loss sums over all ways through them (Graves 2012), by forward and backward variables, one diagonal after the
  // other.
  void joint(Activation& encoded, Activation& predicted) {
    writer_.begin_layer("joint");
    const std::int64_t steps = sizes_.steps(), width = sizes_.joint_hidden;
    writer_.linear("joint_enc", encoded, batch_ * steps, sizes_.encoder_hidden, width, true);
    writer_.linear("joint_pred", predicted, batch_ * predictions(), sizes_.prediction_hidden, width, true);
    const std::int64_t pairs = batch_ * steps * predictions();
    const double n = real(pairs) * real(width), inputs = real(batch_ * (steps + predictions())) * real(width);
    // Back, the gradient is summed over the predictions and over the steps.
    writer_.pass("joint.sum", OperatorKind::elementwise, inputs, n, 2 * n + inputs, n).kernels_backward = 2;
    Activation x = writer_.relu("joint.relu", {n, false});
    if (sizes_.dropout) x = writer_.dropout("joint.dropout", x);
    const Activation logits = writer_.linear("joint_net", x, pairs, width, sizes_.vocabulary, true);
    writer_.begin_layer("loss");
    const Activation probabilities = writer_.log_softmax("log_softmax", logits);
    const double states = real(pairs);
    Operator& loss = writer_.pass("transducer_loss", OperatorKind::loss, 2 * states, states,
                                  6 * states + 2 * probabilities.elements, 1);
    loss.saved_elements = states;
    loss.sequential_steps = real(steps + predictions());
    loss.kernels_forward = 2;
    loss.kernels_backward = 2;
  }

  [[nodiscard]] std::int64_t predictions() const { return sizes_.tokens + 1; }

  ModelWriter& writer_;
  const TransducerSizes& sizes_;
  std::int64_t batch_;
};

}  // namespace

void build_rnn_transducer(Model& model, const Sizes& sizes) {
  const TransducerSizes checked(sizes);
  model.sample_unit = "utterance";
  model.sample_elements = real(checked.frames) * real(checked.features);
  ModelWriter writer(model);
  TransducerBuilder(writer, checked).build({real(model.micro_batch) * model.sample_elements, false});
}

}  // namespace foretrain::models
