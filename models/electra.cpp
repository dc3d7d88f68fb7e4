#include <fmt/format.h>

#include "models/encoder_parts.h"
#include "models/transformer.h"

namespace foretrain::models {
namespace {

// The words put in place of the masked ones: softmax over the generator's logits, noise, the largest; no
// gradient passes.
void write_replacement(ModelWriter& writer, std::int64_t rows, std::int64_t vocabulary) {
  const double n = static_cast<double>(rows) * static_cast<double>(vocabulary);
  Operator& op = writer.pass("replace_tokens", OperatorKind::softmax, 3 * n, 2 * n, 0, static_cast<double>(rows));
  op.kernels_forward = 3;
  op.kernels_backward = 0;
  op.tensor_split = TensorSplit::vocabulary;
}

// Of every token: was it replaced?
void write_discriminator_head(ModelWriter& writer, Activation& x, std::int64_t rows, std::int64_t hidden) {
  const std::string name = "discriminator_predictions";
  writer.begin_layer(name);
  Activation h = writer.linear(name + ".dense", x, rows, hidden, hidden, true);
  h = writer.gelu(name + ".gelu", h);
  const double n = writer.linear(name + ".dense_prediction", h, rows, hidden, 1, true).elements;
  writer.pass(name + ".loss", OperatorKind::loss, 2 * n, n, 3 * n, 1).saved_elements = n;
}

}  // namespace

void build_electra(Model& model, const Sizes& sizes) {
  const TransformerCore discriminator(sizes);
  sizes.allow_only({"layers", "hidden", "heads", "feed_forward", "dropout", "sequence", "vocabulary", "positions",
                    "token_types", "predictions_per_sequence", "generator_hidden", "generator_heads",
                    "generator_feed_forward"});
  EncoderShape shape;
  shape.vocabulary = sizes.integer("vocabulary", 1, largest_vocabulary);
  shape.positions = sizes.integer("positions", 1, longest_sequence);
  shape.token_types = sizes.integer("token_types", 0, 1024);
  shape.layers = discriminator.layers;
  shape.embedding_width = discriminator.hidden;
  resolve_sequence(model, sizes, shape.positions);
  const std::int64_t predictions = sizes.integer("predictions_per_sequence", 1, longest_sequence);
  check_predictions(model, sizes, predictions);

  TransformerCore generator = discriminator;
  generator.hidden = sizes.integer("generator_hidden", 1, widest_hidden);
  generator.heads = sizes.integer("generator_heads", 1, most_heads);
  generator.feed_forward = sizes.integer("generator_feed_forward", 1, widest_feed_forward);
  if (generator.hidden % generator.heads != 0) {
    sizes.fail({"generator_heads", "generator_hidden"},
               fmt::format("a hidden size of {} does not divide into {} heads", generator.hidden, generator.heads));
  }

  ModelWriter writer(model);
  shape.block = generator.block(model.micro_batch, model.sequence, generator.hidden / generator.heads);
  EncoderParts small(writer, shape, "generator.");
  Activation x = small.layers(small.embeddings(true));
  small.masked_language_model(x, predictions);
  write_replacement(writer, model.micro_batch * predictions, shape.vocabulary);

  shape.block = discriminator.block(model.micro_batch, model.sequence, discriminator.head_dimension(sizes));
  EncoderParts large(writer, shape, "electra.");
  x = large.layers(large.embeddings_of("generator."));
  write_discriminator_head(writer, x, shape.block.rows(), discriminator.hidden);
}

}  // namespace foretrain::models
