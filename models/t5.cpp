#include <fmt/format.h>

#include "models/transformer.h"
#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

struct T5Sizes : TransformerCore {
  std::int64_t decoder_layers, own_head_dimension, decoder_sequence, vocabulary, position_buckets;
  bool gated_feed_forward, tied_embeddings;

  explicit T5Sizes(const Sizes& sizes)
      : TransformerCore(sizes),
        decoder_layers(sizes.integer("decoder_layers", 1, most_layers)),
        own_head_dimension(sizes.integer("head_dimension", 1, most_heads)),
        decoder_sequence(sizes.integer("decoder_sequence", 0, longest_sequence)),
        vocabulary(sizes.integer("vocabulary", 1, largest_vocabulary)),
        position_buckets(sizes.integer("position_buckets", 1, longest_sequence)),
        gated_feed_forward(sizes.flag("gated_feed_forward")),
        tied_embeddings(sizes.flag("tied_embeddings")) {
    sizes.allow_only({"layers", "decoder_layers", "hidden", "heads", "head_dimension", "feed_forward", "dropout",
                      "sequence", "decoder_sequence", "vocabulary", "position_buckets", "gated_feed_forward",
                      "tied_embeddings"});
  }
};

BlockNames block_names(const std::string& attention, const std::string& feed_forward, bool gated) {
  const std::string dense = feed_forward + ".DenseReluDense.";
  return {"",
          attention + ".SelfAttention.q",
          attention + ".SelfAttention.k",
          attention + ".SelfAttention.v",
          attention + ".SelfAttention.core",
          attention + ".SelfAttention.o",
          attention + ".layer_norm",
          gated ? dense + "wi_1" : dense + "wi",
          gated ? dense + "wi_0" : "",
          dense + "wo",
          feed_forward + ".layer_norm"};
}

const CrossAttentionNames& cross_names() {
  static const CrossAttentionNames names = {"layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k",
                                            "layer.1.EncDecAttention.v", "layer.1.EncDecAttention.core",
                                            "layer.1.EncDecAttention.o", "layer.1.layer_norm"};
  return names;
}

class T5Builder {
 public:
  T5Builder(ModelWriter& writer, const T5Sizes& sizes, BlockShape block, std::int64_t decoder_tokens)
      : writer_(writer), sizes_(sizes), block_(block), decoder_tokens_(decoder_tokens) {}

  void build() {
    Activation memory = encoder();
    const std::int64_t memory_tokens = block_.tokens;
    block_.tokens = decoder_tokens_;
    head(decoder(memory, memory_tokens));
  }

 private:
  Activation encoder() {
    Activation x = embeddings("encoder");
    const BlockNames names = block_names("layer.0", "layer.1", sizes_.gated_feed_forward);
    for (std::int64_t i = 0; i < sizes_.layers; ++i) {
      x = write_block(writer_, fmt::format("encoder.block.{}", i), x, block(i), names);
    }
    return last_norm("encoder", x);
  }

  Activation decoder(Activation& memory, std::int64_t memory_tokens) {
    Activation x = embeddings("decoder");
    writer_.use_weights_of("encoder");
    const BlockNames names = block_names("layer.0", "layer.2", sizes_.gated_feed_forward);
    block_.causal = true;
    for (std::int64_t i = 0; i < sizes_.decoder_layers; ++i) {
      x = write_decoder_block(writer_, fmt::format("decoder.block.{}", i), x, memory, memory_tokens, block(i), names,
                              cross_names());
    }
    return last_norm("decoder", x);
  }

  // The first layer of either holds the table of biases.
  [[nodiscard]] BlockShape block(std::int64_t layer) const {
    BlockShape shape = block_;
    shape.position_buckets = layer == 0 ? sizes_.position_buckets : 0;
    return shape;
  }

  Activation drop(const std::string& name, const Activation& x) {
    return sizes_.dropout ? writer_.dropout(name, x) : x;
  }

  Activation embeddings(const std::string& name) {
    writer_.begin_layer(name);
    const Activation x =
        writer_.embedding(name + ".embed_tokens", block_.rows(), sizes_.vocabulary, sizes_.hidden, true);
    writer_.deal_out(TensorSplit::vocabulary);
    return drop(name + ".dropout", x);
  }

  Activation last_norm(const std::string& name, Activation& x) {
    writer_.begin_layer(name + ".final_layer_norm");
    return drop(name + ".final_dropout", writer_.layer_norm(name + ".final_layer_norm", x, sizes_.hidden, false));
  }

  void head(Activation x) {
    writer_.begin_layer("head");
    const std::int64_t rows = block_.rows(), hidden = sizes_.hidden, words = sizes_.vocabulary;
    Activation logits;
    if (sizes_.tied_embeddings) {
      const double n = x.elements;  // divided by the root of the width
      writer_.pass("lm_head.scale", OperatorKind::elementwise, n, n, 2 * n, n);
      Activation scaled{n, false};
      logits = writer_.tied_linear("lm_head", scaled, rows, hidden, words, false,
                                   {"encoder.embed_tokens.weight", {words, hidden}});
    } else {
      logits = writer_.linear("lm_head", x, rows, hidden, words, false);
    }
    writer_.cross_entropy("loss", logits, rows);
    writer_.deal_out(TensorSplit::vocabulary, 3);
  }

  ModelWriter& writer_;
  const T5Sizes& sizes_;
  BlockShape block_;
  std::int64_t decoder_tokens_;
};

}  // namespace

void build_t5(Model& model, const Sizes& sizes) {
  const T5Sizes checked(sizes);
  resolve_sequence(model, sizes, 0);
  BlockShape block = checked.block(model.micro_batch, model.sequence, checked.own_head_dimension);
  block.rms_norm = true;
  block.gated = checked.gated_feed_forward;
  block.relu = !checked.gated_feed_forward;
  block.biases = block.query_key_value_biases = false;
  block.activation_dropout = checked.dropout;
  block.position_bias = true;
  ModelWriter writer(model);
  T5Builder(writer, checked, block, checked.decoder_sequence > 0 ? checked.decoder_sequence : model.sequence).build();
}

}  // namespace foretrain::models
