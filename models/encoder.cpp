#include "models/transformer.h"

#include <fmt/format.h>

#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct EncoderSizes : TransformerCore {
  std::int64_t vocabulary, positions, token_types, predictions_per_sequence, classes;
  bool pooler, mlm_head, nsp_head;

  explicit EncoderSizes(const Sizes& sizes)
      : TransformerCore(sizes),
        vocabulary(sizes.integer("vocabulary", 1, largest_vocabulary)),
        positions(sizes.integer("positions", 1, longest_sequence)),
        token_types(sizes.integer("token_types", 0, 1024)),
        predictions_per_sequence(sizes.integer("predictions_per_sequence", 0, longest_sequence)),
        classes(sizes.integer("classes", 0, largest_vocabulary)),
        pooler(sizes.flag("pooler")),
        mlm_head(sizes.flag("mlm_head")),
        nsp_head(sizes.flag("nsp_head")) {
    sizes.allow_only({"layers", "hidden", "heads", "feed_forward", "dropout", "sequence", "vocabulary", "positions",
                      "token_types", "predictions_per_sequence", "classes", "pooler", "mlm_head", "nsp_head"});
    if (!pooler && nsp_head)
      sizes.fail({"nsp_head", "pooler"}, "the next-sentence head reads the pooled output", "pooler: 1");
    if (!pooler && classes > 0)
      sizes.fail({"classes", "pooler"}, "the classifier reads the pooled output", "pooler: 1");
  }
};

class EncoderBuilder {
 public:
  EncoderBuilder(Model& model, const EncoderSizes& sizes)
      : writer_(model), sizes_(sizes), batch_(model.micro_batch), tokens_(model.sequence) {}

  void build(const BlockShape& block) {
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
    Activation x = embeddings();
    for (std::int64_t i = 0; i < sizes_.layers; ++i) {
      x = write_block(writer_, fmt::format("encoder.layer.{}", i), x, block, names);
    }
    heads(x);
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return batch_ * tokens_; }

  Activation embeddings() {
    writer_.begin_layer("embeddings");
    Activation x =
        writer_.embedding("embeddings.word_embeddings", rows(), sizes_.vocabulary, sizes_.hidden, sizes_.mlm_head);
    x = add_positions(writer_, "embeddings.position_embeddings", x, tokens_, sizes_.positions, sizes_.hidden);
    if (sizes_.token_types > 0) {
      writer_.embedding("embeddings.token_type_embeddings", rows(), sizes_.token_types, sizes_.hidden, false);
      // The gradient passes to both terms as it is.
      writer_
          .pass("embeddings.token_type_embeddings.add", OperatorKind::elementwise, 2 * x.elements, x.elements, 0,
                x.elements)
          .kernels_backward = 0;
    }
    x = writer_.layer_norm("embeddings.LayerNorm", x, sizes_.hidden, true);
    return sizes_.dropout ? writer_.dropout("embeddings.dropout", x) : x;
  }

  void heads(Activation& x) {
    Activation pooled;
    if (sizes_.pooler) {
      writer_.begin_layer("pooler");
      Activation first_token{real(batch_) * real(sizes_.hidden), false};
      pooled = writer_.linear("pooler.dense", first_token, batch_, sizes_.hidden, sizes_.hidden, true);
      pooled = writer_.tanh("pooler.activation", pooled);
    }
    if (sizes_.mlm_head) masked_language_model(x);
    if (sizes_.nsp_head) classifier("cls.seq_relationship", pooled, 2);
    if (sizes_.classes > 0) classifier("classifier", pooled, sizes_.classes);
    if (!sizes_.mlm_head && !sizes_.nsp_head && sizes_.classes == 0) {
      const double n = sizes_.pooler ? pooled.elements : x.elements;
      writer_.begin_layer("loss");
      writer_.pass("loss", OperatorKind::loss, n, 1, n, 1);
    }
  }

  void masked_language_model(Activation& x) {
    writer_.begin_layer("cls.predictions");
    std::int64_t predictions = rows();
    Activation chosen = x;
    if (sizes_.predictions_per_sequence > 0) {
      predictions = batch_ * sizes_.predictions_per_sequence;
      const double n = real(predictions) * real(sizes_.hidden);
      // Back: zeros over all tokens, then the chosen rows.
      writer_.pass("cls.predictions.gather", OperatorKind::elementwise, n, n, x.elements + 2 * n, n).kernels_backward =
          2;
      chosen = {n, false};
    }
    Activation h =
        writer_.linear("cls.predictions.transform.dense", chosen, predictions, sizes_.hidden, sizes_.hidden, true);
    h = writer_.gelu("cls.predictions.transform.gelu", h);
    h = writer_.layer_norm("cls.predictions.transform.LayerNorm", h, sizes_.hidden, true);
    const Activation logits =
        writer_.tied_linear("cls.predictions.decoder", h, predictions, sizes_.hidden, sizes_.vocabulary, true);
    writer_.cross_entropy("cls.predictions.loss", logits, predictions);
  }

  void classifier(const std::string& name, Activation& pooled, std::int64_t classes) {
    writer_.begin_layer(name);
    const Activation logits = writer_.linear(name, pooled, batch_, sizes_.hidden, classes, true);
    writer_.cross_entropy(name + ".loss", logits, batch_);
  }

  ModelWriter writer_;
  const EncoderSizes& sizes_;
  std::int64_t batch_, tokens_;
};

}  // namespace

void build_encoder(Model& model, const Sizes& sizes) {
  const EncoderSizes checked(sizes);
  resolve_sequence(model, sizes, checked.positions);
  if (checked.predictions_per_sequence > model.sequence) {
    sizes.fail({"predictions_per_sequence", "sequence"},
               fmt::format("{} masked tokens in a sequence of {}", checked.predictions_per_sequence, model.sequence));
  }
  BlockShape block = checked.block(model.micro_batch, model.sequence, checked.head_dimension(sizes));
  block.norm_before = false;
  EncoderBuilder(model, checked).build(block);
}

}  // namespace foretrain::models
