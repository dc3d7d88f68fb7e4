#include "models/transformer.h"

#include <fmt/format.h>

#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

struct DecoderSizes : TransformerCore {
  std::int64_t vocabulary, positions, key_value_heads, own_head_dimension;
  bool gated_feed_forward, tied_embeddings, biases, query_key_value_biases, rms_norm, learned_positions,
      rotary_positions, relu, embedding_norm, query_key_norms;

  explicit DecoderSizes(const Sizes& sizes)
      : TransformerCore(sizes),
        vocabulary(sizes.integer("vocabulary", 1, largest_vocabulary)),
        positions(sizes.integer("positions", 1, longest_sequence)),
        key_value_heads(sizes.integer("key_value_heads", 0, most_heads)),
        own_head_dimension(sizes.integer("head_dimension", 0, most_heads)),
        gated_feed_forward(sizes.flag("gated_feed_forward")),
        tied_embeddings(sizes.flag("tied_embeddings")),
        biases(sizes.flag("biases")),
        query_key_value_biases(sizes.flag("query_key_value_biases")),
        rms_norm(sizes.flag("rms_norm")),
        learned_positions(sizes.flag("learned_positions")),
        rotary_positions(sizes.flag("rotary_positions")),
        relu(sizes.later_flag("relu")),
        embedding_norm(sizes.later_flag("embedding_norm")),
        query_key_norms(sizes.later_flag("query_key_norms")) {
    sizes.allow_only({"layers",
                      "hidden",
                      "heads",
                      "feed_forward",
                      "dropout",
                      "sequence",
                      "vocabulary",
                      "positions",
                      "key_value_heads",
                      "head_dimension",
                      "gated_feed_forward",
                      "tied_embeddings",
                      "biases",
                      "query_key_value_biases",
                      "rms_norm",
                      "learned_positions",
                      "rotary_positions",
                      "relu",
                      "embedding_norm",
                      "query_key_norms"});
    if (relu && gated_feed_forward) {
      sizes.fail({"relu", "gated_feed_forward"}, "a gated feed-forward network has SiLU, not ReLU",
                 "set one of them to 0");
    }
    if (key_value_heads == 0) key_value_heads = heads;
    if (heads % key_value_heads != 0) {
      sizes.fail({"key_value_heads", "heads"},
                 fmt::format("{} heads do not divide into {} key-value heads", heads, key_value_heads));
    }
  }
};

void write_decoder(Model& model, const DecoderSizes& sizes, const BlockShape& block) {
  static const BlockNames names = {"attn.c_attn", "",         "",           "",           "attn.core", "attn.c_proj",
                                   "ln_1",        "mlp.c_fc", "mlp.c_gate", "mlp.c_proj", "ln_2"};
  ModelWriter writer(model);
  writer.begin_layer("embeddings");
  Activation x = writer.embedding("wte", block.rows(), sizes.vocabulary, sizes.hidden, sizes.tied_embeddings);
  writer.deal_out(TensorSplit::vocabulary);
  if (sizes.learned_positions) {
    x = add_positions(writer, "wpe", x, block.tokens, sizes.positions, sizes.hidden);
  }
  if (sizes.embedding_norm) x = writer.layer_norm("ln_emb", x, sizes.hidden, !sizes.rms_norm);
  if (sizes.dropout) x = writer.dropout("drop", x);
  for (std::int64_t i = 0; i < sizes.layers; ++i) x = write_block(writer, fmt::format("h.{}", i), x, block, names);

  writer.begin_layer("head");
  x = writer.layer_norm("ln_f", x, sizes.hidden, !sizes.rms_norm);
  const Activation logits = sizes.tied_embeddings
                                ? writer.tied_linear("lm_head", x, block.rows(), sizes.hidden, sizes.vocabulary, false,
                                                     {"wte.weight", {sizes.vocabulary, sizes.hidden}})
                                : writer.linear("lm_head", x, block.rows(), sizes.hidden, sizes.vocabulary, false);
  writer.cross_entropy("loss", logits, block.rows());
  writer.deal_out(TensorSplit::vocabulary, 3);
}

}  // namespace

void build_decoder(Model& model, const Sizes& sizes) {
  const DecoderSizes checked(sizes);
  resolve_sequence(model, sizes, checked.learned_positions ? checked.positions : 0);
  const std::int64_t dimension =
      checked.own_head_dimension > 0 ? checked.own_head_dimension : checked.head_dimension(sizes);
  BlockShape block = checked.block(model.micro_batch, model.sequence, dimension);
  block.key_value_heads = checked.key_value_heads;
  block.causal = true;
  block.rms_norm = checked.rms_norm;
  block.gated = checked.gated_feed_forward;
  block.relu = checked.relu;
  block.rotary = checked.rotary_positions;
  block.query_key_norms = checked.query_key_norms;
  block.biases = checked.biases;
  block.query_key_value_biases = checked.query_key_value_biases;
  write_decoder(model, checked, block);
}

}  // namespace foretrain::models
