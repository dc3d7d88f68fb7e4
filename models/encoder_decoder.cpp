#include <fmt/format.h>

#include "models/transformer.h"
#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

// As fairseq names them.
const BlockNames& block_names() {
  static const BlockNames names = {"",
                                   "self_attn.q_proj",
                                   "self_attn.k_proj",
                                   "self_attn.v_proj",
                                   "self_attn.core",
                                   "self_attn.out_proj",
                                   "self_attn_layer_norm",
                                   "fc1",
                                   "",
                                   "fc2",
                                   "final_layer_norm"};
  return names;
}

const CrossAttentionNames& cross_names() {
  static const CrossAttentionNames names = {"encoder_attn.q_proj", "encoder_attn.k_proj",   "encoder_attn.v_proj",
                                            "encoder_attn.core",   "encoder_attn.out_proj", "encoder_attn_layer_norm"};
  return names;
}

// A lookup, times the root of the width, plus sinusoidal positions, which are constants.
Activation write_embeddings(ModelWriter& writer, const std::string& name, const BlockShape& block,
                            std::int64_t vocabulary) {
  writer.begin_layer(name);
  const Activation x = writer.embedding(name + ".embed_tokens", block.rows(), vocabulary, block.hidden, true);
  writer.deal_out(TensorSplit::vocabulary);
  const double n = x.elements;
  writer.pass(name + ".scale", OperatorKind::elementwise, n, n, 2 * n, n);
  Operator& add = writer.pass(name + ".add_positions", OperatorKind::elementwise, 2 * n, n, 0, n);
  add.kernels_backward = 0;
  return block.dropout ? writer.dropout(name + ".dropout", {n, false}) : Activation{n, false};
}

struct EmbeddingSizes {
  std::int64_t vocabulary = 0, positions = 0;
  bool norm = false;
};

// The same with learned positions and a norm (BART). The decoder's words are the encoder's, its positions its own.
Activation write_learned_embeddings(ModelWriter& writer, const std::string& name, const BlockShape& block,
                                    const EmbeddingSizes& sizes) {
  writer.begin_layer(name);
  Activation x = writer.embedding(name + ".embed_tokens", block.rows(), sizes.vocabulary, block.hidden, true);
  writer.deal_out(TensorSplit::vocabulary);
  if (name != "encoder") writer.use_weights_of("encoder");
  x = add_positions(writer, name + ".embed_positions", x, block.tokens, sizes.positions, block.hidden);
  if (sizes.norm) x = writer.layer_norm(name + ".layernorm_embedding", x, block.hidden, true);
  return block.dropout ? writer.dropout(name + ".dropout", x) : x;
}

}  // namespace

void build_encoder_decoder(Model& model, const Sizes& sizes) {
  const TransformerCore core(sizes);
  sizes.allow_only({"layers", "decoder_layers", "hidden", "heads", "feed_forward", "dropout", "sequence", "vocabulary",
                    "label_smoothing", "positions", "embedding_norm", "gelu"});
  const EmbeddingSizes tables{sizes.integer("vocabulary", 1, largest_vocabulary),
                              sizes.later_integer("positions", 0, longest_sequence),
                              sizes.later_flag("embedding_norm")};
  if (tables.norm && tables.positions == 0) {
    sizes.fail({"embedding_norm", "positions"}, "sinusoidal positions stand without a norm", "positions: their number");
  }
  const std::int64_t decoder_layers = sizes.integer("decoder_layers", 1, most_layers);
  const std::int64_t vocabulary = tables.vocabulary;
  const bool label_smoothing = sizes.flag("label_smoothing");
  resolve_sequence(model, sizes, tables.positions);
  BlockShape block = core.block(model.micro_batch, model.sequence, core.head_dimension(sizes));
  block.norm_before = false;
  block.relu = !sizes.later_flag("gelu");

  ModelWriter writer(model);
  const bool learned = tables.positions > 0;
  Activation memory = learned ? write_learned_embeddings(writer, "encoder", block, tables)
                              : write_embeddings(writer, "encoder", block, vocabulary);
  for (std::int64_t i = 0; i < core.layers; ++i) {
    memory = write_block(writer, fmt::format("encoder.layers.{}", i), memory, block, block_names());
  }
  block.causal = true;
  Activation x = learned ? write_learned_embeddings(writer, "decoder", block, tables)
                         : write_embeddings(writer, "decoder", block, vocabulary);
  if (!learned) writer.use_weights_of("encoder");
  for (std::int64_t i = 0; i < decoder_layers; ++i) {
    x = write_decoder_block(writer, fmt::format("decoder.layers.{}", i), x, memory, block.tokens, block, block_names(),
                            cross_names());
  }
  writer.begin_layer("head");
  const Activation logits = writer.tied_linear("output_projection", x, block.rows(), core.hidden, vocabulary, false,
                                               {"encoder.embed_tokens.weight", {vocabulary, core.hidden}});
  writer.cross_entropy("loss", logits, block.rows());
  if (label_smoothing) write_label_smoothing(writer, logits);
  writer.deal_out(TensorSplit::vocabulary, label_smoothing ? 4 : 3);
}

}  // namespace foretrain::models
