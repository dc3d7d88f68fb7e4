#include "models/encoder_parts.h"

#include <utility>

#include <fmt/format.h>

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

const BlockNames& block_names() {
  static const BlockNames names = {"",
                                   "attention.self.query",
                                   "attention.self.key",
                                   "attention.self.value",
                                   "attention.self.core",
                                   "attention.output.dense",
                                   "attention.output.LayerNorm",
                                   "intermediate.dense",
                                   "",
                                   "output.dense",
                                   "output.LayerNorm"};
  return names;
}

}  // namespace

EncoderParts::EncoderParts(ModelWriter& writer, const EncoderShape& shape, std::string prefix)
    : writer_(writer), shape_(shape), prefix_(std::move(prefix)) {
  shape_.block.norm_before = false;
}

Activation EncoderParts::embeddings(bool tied) {
  writer_.begin_layer(prefix_ + "embeddings");
  return mapped(sum_of_tables(tied));
}

Activation EncoderParts::embeddings_of(const std::string& other) {
  writer_.begin_layer(prefix_ + "embeddings");
  const Activation sum = sum_of_tables(false);
  writer_.use_weights_of(other + "embeddings");
  return mapped(sum);
}

Activation EncoderParts::sum_of_tables(bool tied) {
  const std::string name = prefix_ + "embeddings.";
  const std::int64_t width = shape_.embedding_width;
  Activation x = writer_.embedding(name + "word_embeddings", rows(), shape_.vocabulary, width, tied);
  writer_.deal_out(TensorSplit::vocabulary);
  x = add_positions(writer_, name + "position_embeddings", x, shape_.block.tokens, shape_.positions, width);
  if (shape_.token_types > 0) {
    writer_.embedding(name + "token_type_embeddings", rows(), shape_.token_types, width, false);
    // The gradient passes to both terms as it is.
    writer_
        .pass(name + "token_type_embeddings.add", OperatorKind::elementwise, 2 * x.elements, x.elements, 0, x.elements)
        .kernels_backward = 0;
  }
  x = writer_.layer_norm(name + "LayerNorm", x, width, true);
  return shape_.block.dropout ? writer_.dropout(name + "dropout", x) : x;
}

Activation EncoderParts::mapped(Activation x) {
  if (shape_.embedding_width == shape_.block.hidden) return x;
  return writer_.linear(prefix_ + "embeddings_project", x, rows(), shape_.embedding_width, shape_.block.hidden, true);
}

Activation EncoderParts::layers(Activation x) {
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    x = write_block(writer_, fmt::format("{}encoder.layer.{}", prefix_, i), x, shape_.block, block_names());
    if (shape_.shared_layers && i > 0) writer_.use_weights_of(prefix_ + "encoder.layer.0");
  }
  return x;
}

void EncoderParts::masked_language_model(Activation& x, std::int64_t predictions) {
  const std::string name = prefix_ + "cls.predictions";
  const std::int64_t hidden = shape_.block.hidden, width = shape_.embedding_width;
  writer_.begin_layer(name);
  std::int64_t chosen_rows = rows();
  Activation chosen = x;
  if (predictions > 0) {
    chosen_rows = shape_.block.batch * predictions;
    const double n = real(chosen_rows) * real(hidden);
    // Back: zeros over all tokens, then the chosen rows.
    writer_.pass(name + ".gather", OperatorKind::elementwise, n, n, x.elements + 2 * n, n).kernels_backward = 2;
    chosen = {n, false};
  }
  Activation h = writer_.linear(name + ".transform.dense", chosen, chosen_rows, hidden, width, true);
  h = writer_.gelu(name + ".transform.gelu", h);
  h = writer_.layer_norm(name + ".transform.LayerNorm", h, width, true);
  const Activation logits =
      writer_.tied_linear(name + ".decoder", h, chosen_rows, width, shape_.vocabulary, true,
                          {prefix_ + "embeddings.word_embeddings.weight", {shape_.vocabulary, width}});
  writer_.cross_entropy(name + ".loss", logits, chosen_rows);
  writer_.deal_out(TensorSplit::vocabulary, 3);
}

}  // namespace foretrain::models
