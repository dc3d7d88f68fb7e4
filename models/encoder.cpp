#include <fmt/format.h>

#include "models/encoder_parts.h"
#include "models/transformer.h"

namespace foretrain::models {
namespace {

struct EncoderSizes : TransformerCore {
  std::int64_t vocabulary, positions, token_types, embedding_width, predictions_per_sequence, classes;
  bool shared_layers, pooler, mlm_head, nsp_head;

  explicit EncoderSizes(const Sizes& sizes)
      : TransformerCore(sizes),
        vocabulary(sizes.integer("vocabulary", 1, largest_vocabulary)),
        positions(sizes.integer("positions", 1, longest_sequence)),
        token_types(sizes.integer("token_types", 0, 1024)),
        embedding_width(sizes.integer("embedding_width", 0, widest_hidden)),
        predictions_per_sequence(sizes.integer("predictions_per_sequence", 0, longest_sequence)),
        classes(sizes.integer("classes", 0, largest_vocabulary)),
        shared_layers(sizes.flag("shared_layers")),
        pooler(sizes.flag("pooler")),
        mlm_head(sizes.flag("mlm_head")),
        nsp_head(sizes.flag("nsp_head")) {
    sizes.allow_only({"layers", "hidden", "heads", "feed_forward", "dropout", "sequence", "vocabulary", "positions",
                      "token_types", "embedding_width", "shared_layers", "predictions_per_sequence", "classes",
                      "pooler", "mlm_head", "nsp_head"});
    if (embedding_width == 0) embedding_width = hidden;
    if (!pooler && nsp_head)
      sizes.fail({"nsp_head", "pooler"}, "the next-sentence head reads the pooled output", "pooler: 1");
    if (!pooler && classes > 0)
      sizes.fail({"classes", "pooler"}, "the classifier reads the pooled output", "pooler: 1");
  }

  [[nodiscard]] EncoderShape shape(const BlockShape& block) const {
    return {block, layers, vocabulary, positions, token_types, embedding_width, shared_layers};
  }
};

// What follows the encoder: a pooler and the heads that were asked for, or a mere loss.
class HeadWriter {
 public:
  HeadWriter(ModelWriter& writer, const EncoderSizes& sizes, std::int64_t batch)
      : writer_(writer), sizes_(sizes), batch_(batch) {}

  void write(EncoderParts& encoder, Activation& x) {
    Activation pooled;
    if (sizes_.pooler) {
      writer_.begin_layer("pooler");
      Activation first_token{static_cast<double>(batch_) * static_cast<double>(sizes_.hidden), false};
      pooled = writer_.linear("pooler.dense", first_token, batch_, sizes_.hidden, sizes_.hidden, true);
      pooled = writer_.tanh("pooler.activation", pooled);
    }
    if (sizes_.mlm_head) encoder.masked_language_model(x, sizes_.predictions_per_sequence);
    if (sizes_.nsp_head) classifier("cls.seq_relationship", pooled, 2);
    if (sizes_.classes > 0) classifier("classifier", pooled, sizes_.classes);
    if (!sizes_.mlm_head && !sizes_.nsp_head && sizes_.classes == 0) {
      const double n = sizes_.pooler ? pooled.elements : x.elements;
      writer_.begin_layer("loss");
      writer_.pass("loss", OperatorKind::loss, n, 1, n, 1);
    }
  }

 private:
  void classifier(const std::string& name, Activation& pooled, std::int64_t classes) {
    writer_.begin_layer(name);
    const Activation logits = writer_.linear(name, pooled, batch_, sizes_.hidden, classes, true);
    writer_.cross_entropy(name + ".loss", logits, batch_);
  }

  ModelWriter& writer_;
  const EncoderSizes& sizes_;
  std::int64_t batch_;
};

}  // namespace

void build_encoder(Model& model, const Sizes& sizes) {
  const EncoderSizes checked(sizes);
  resolve_sequence(model, sizes, checked.positions);
  check_predictions(model, sizes, checked.predictions_per_sequence);
  ModelWriter writer(model);
  EncoderParts encoder(writer,
                       checked.shape(checked.block(model.micro_batch, model.sequence, checked.head_dimension(sizes))));
  Activation x = encoder.layers(encoder.embeddings(checked.mlm_head));
  HeadWriter(writer, checked, model.micro_batch).write(encoder, x);
}

}  // namespace foretrain::models
