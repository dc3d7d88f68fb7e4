#include "models/transformer_core.h"

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain::models {

TransformerCore::TransformerCore(const Sizes& sizes)
    : layers(sizes.integer("layers", 1, most_layers)),
      hidden(sizes.integer("hidden", 1, widest_hidden)),
      heads(sizes.integer("heads", 1, most_heads)),
      feed_forward(sizes.integer("feed_forward", 1, widest_feed_forward)),
      dropout(sizes.flag("dropout")) {}

std::int64_t TransformerCore::head_dimension(const Sizes& sizes) const {
  if (hidden % heads != 0) {
    sizes.fail({"heads", "hidden"}, fmt::format("a hidden size of {} does not divide into {} heads", hidden, heads));
  }
  return hidden / heads;
}

BlockShape TransformerCore::block(std::int64_t batch, std::int64_t tokens, std::int64_t dimension) const {
  BlockShape shape;
  shape.batch = batch;
  shape.tokens = tokens;
  shape.hidden = hidden;
  shape.heads = shape.key_value_heads = heads;
  shape.head_dimension = dimension;
  shape.feed_forward = feed_forward;
  shape.dropout = dropout;
  return shape;
}

void resolve_sequence(Model& model, const Sizes& sizes, std::int64_t positions) {
  const bool chosen_by_user = model.sequence > 0;
  if (!chosen_by_user) model.sequence = sizes.integer("sequence", 1, longest_sequence);
  if (positions > 0 && model.sequence > positions) {
    const std::string what = fmt::format("a sequence of {} tokens is longer than the {} learned positions of {}",
                                         model.sequence, positions, model.name);
    const std::string hint = fmt::format("at most {}, or override the model's size \"positions\"", positions);
    if (chosen_by_user) throw Error(what, "training.sequence", hint);
    sizes.fail({"sequence", "positions"}, what, hint);
  }
  model.sample_unit = "sequence";
  model.sample_elements = static_cast<double>(model.sequence);
}

void check_predictions(const Model& model, const Sizes& sizes, std::int64_t predictions_per_sequence) {
  if (predictions_per_sequence <= model.sequence) return;
  sizes.fail({"predictions_per_sequence", "sequence"},
             fmt::format("{} masked tokens in a sequence of {}", predictions_per_sequence, model.sequence));
}

Activation add_positions(ModelWriter& writer, const std::string& name, const Activation& x, std::int64_t tokens,
                         std::int64_t positions, std::int64_t hidden) {
  writer.embedding(name, tokens, positions, hidden, false);
  const double n = x.elements;
  writer.pass(name + ".add", OperatorKind::elementwise, 2 * n, n, n, n);  // back: a sum over the batch
  return {n, false};
}

void write_label_smoothing(ModelWriter& writer, const Activation& logits) {
  const double n = logits.elements;
  writer.pass("loss.smoothing", OperatorKind::loss, n, 1, 3 * n, 1).kernels_backward = 2;
}

}  // namespace foretrain::models
