#include <algorithm>

#include <fmt/format.h>

#include "models/transformer.h"
#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct Cluster {  // words of similar frequency, with a width of their own
  std::int64_t words = 0, width = 0, tokens_per_sequence = 0;
};

struct XlSizes : TransformerCore {
  std::int64_t memory, vocabulary, width_divisor;
  bool attention_dropout;
  std::vector<std::int64_t> cutoffs, tail_tokens_per_thousand;

  explicit XlSizes(const Sizes& sizes)
      : TransformerCore(sizes),
        memory(sizes.integer("memory", 0, longest_sequence)),
        vocabulary(sizes.integer("vocabulary", 2, largest_vocabulary)),
        width_divisor(sizes.integer("width_divisor", 1, 64)),
        attention_dropout(sizes.flag("attention_dropout")),
        cutoffs(sizes.list("cutoffs", 1, largest_vocabulary)),
        tail_tokens_per_thousand(sizes.list("tail_tokens_per_thousand", 1, 1000)) {
    sizes.allow_only({"layers", "hidden", "heads", "feed_forward", "dropout", "attention_dropout", "sequence", "memory",
                      "vocabulary", "width_divisor", "cutoffs", "tail_tokens_per_thousand"});
    if (!std::is_sorted(cutoffs.begin(), cutoffs.end()) || cutoffs.back() >= vocabulary) {
      sizes.fail({"vocabulary", "cutoffs"}, "cutoffs must rise and end below the vocabulary");
    }
    if (tail_tokens_per_thousand.size() != cutoffs.size()) {
      sizes.fail({"tail_tokens_per_thousand"}, fmt::format("{} numbers for {} clusters behind the cutoffs",
                                                           tail_tokens_per_thousand.size(), cutoffs.size()));
    }
  }

  // The head of frequent words, then the tails. A tail's tokens are rounded up.
  [[nodiscard]] std::vector<Cluster> clusters(std::int64_t sequence) const {
    std::vector<Cluster> all;
    std::int64_t begin = 0, width = hidden;
    for (std::size_t i = 0; i <= cutoffs.size(); ++i, width = std::max<std::int64_t>(1, width / width_divisor)) {
      const std::int64_t end = i < cutoffs.size() ? cutoffs[i] : vocabulary;
      const std::int64_t tokens = i == 0 ? sequence : (sequence * tail_tokens_per_thousand[i - 1] + 999) / 1000;
      all.push_back({end - begin, width, tokens});
      begin = end;
    }
    return all;
  }
};

class XlBuilder {
 public:
  XlBuilder(ModelWriter& writer, const XlSizes& sizes, const BlockShape& block)
      : writer_(writer), sizes_(sizes), block_(block), clusters_(sizes.clusters(block.tokens)) {}

  void build() {
    Activation x = embeddings();
    for (std::int64_t i = 0; i < sizes_.layers; ++i) {
      const std::string name = fmt::format("layers.{}", i);
      writer_.begin_layer(name, true);
      x = write_feed_forward(writer_, name, attention(name + ".dec_attn", i == 0), block_, feed_forward_names());
    }
    adaptive_softmax(x);
  }

 private:
  static const BlockNames& feed_forward_names() {
    static const BlockNames names = {
        "", "", "", "", "", "", "", "pos_ff.CoreNet.0", "", "pos_ff.CoreNet.3", "pos_ff.layer_norm"};
    return names;
  }

  [[nodiscard]] bool projects() const { return sizes_.width_divisor > 1; }
  [[nodiscard]] std::int64_t keys() const { return block_.tokens + sizes_.memory; }
  // Tokens of a cluster in the micro-batch. Every token is looked up in one cluster; the head takes the rest.
  [[nodiscard]] std::int64_t rows(std::size_t cluster) const {
    return block_.batch * clusters_[cluster].tokens_per_sequence;
  }

  Activation drop(const std::string& name, const Activation& x) {
    return block_.dropout ? writer_.dropout(name, x) : x;
  }

  Activation embeddings() {
    writer_.begin_layer("word_emb");
    const std::int64_t hidden = sizes_.hidden;
    const double n = real(block_.rows()) * real(hidden);
    if (!projects()) {
      writer_.embedding("word_emb.emb_layers.0", block_.rows(), sizes_.vocabulary, hidden, true);
      writer_.deal_out(TensorSplit::vocabulary);
    } else {
      std::int64_t left = block_.rows();
      for (std::size_t i = clusters_.size(); i-- > 0;) {  // the tails, then what is left in the head
        const std::int64_t tokens = i == 0 ? left : rows(i);
        left -= tokens;
        Activation found = writer_.embedding(fmt::format("word_emb.emb_layers.{}", i), tokens, clusters_[i].words,
                                             clusters_[i].width, true);
        writer_.deal_out(TensorSplit::vocabulary);
        writer_.linear(fmt::format("word_emb.emb_projs.{}", i), found, tokens, clusters_[i].width, hidden, false);
      }
      // The results go to their tokens' places, and their gradients come from there.
      writer_.pass("word_emb.scatter", OperatorKind::elementwise, n, 2 * n, 2 * n, n);
    }
    writer_.pass("word_emb.scale", OperatorKind::elementwise, n, n, 2 * n, n);
    return drop("drop", {n, false});
  }

  // Queries of the tokens against keys and values of memory and tokens; each score is the sum of a product
  // with the key and one with the key's relative position, both with a bias of the query's that all layers
  // share. The first reads a copy of memory and tokens in one tensor.
  Activation attention(const std::string& name, bool first) {
    const std::int64_t hidden = sizes_.hidden, width = block_.heads * block_.head_dimension;
    const std::int64_t rows = block_.rows(), key_rows = block_.batch * keys();
    const auto tensor = [width](std::int64_t count) { return Activation{real(count) * real(width), false}; };

    Activation context = writer_.copy(name + ".cat", {real(key_rows) * real(hidden), false});
    writer_.linear(name + ".qkv_net", context, key_rows, hidden, 3 * width, false);
    writer_.deal_out(TensorSplit::columns);
    add_query_bias(name, "r_w_bias", first);
    Activation positions{real(keys()) * real(hidden), !first};  // one constant for all layers
    writer_.linear(name + ".r_net", positions, keys(), hidden, width, false);
    writer_.deal_out(TensorSplit::columns);
    writer_.last_operator().needs_input_gradient = false;
    add_query_bias(name, "r_r_bias", first);

    Activation query = tensor(rows), moved_query = tensor(rows), key = tensor(key_rows), value = tensor(key_rows);
    Activation position_key = tensor(keys());
    const Activation scores =
        writer_.products(name + ".position_scores", moved_query, position_key,
                         {block_.batch * block_.heads, block_.tokens, keys(), block_.head_dimension});
    // The shift is a padding with zeros and a copy back; the sum of both scores is scaled.
    const double s = scores.elements;
    Operator& shift = writer_.pass(name + ".rel_shift", OperatorKind::elementwise, 2 * s, 2 * s, 4 * s, s);
    shift.kernels_forward = shift.kernels_backward = 2;
    writer_.pass(name + ".add_and_scale", OperatorKind::elementwise, 2 * s, s, 2 * s, s);

    AttentionShape core;
    core.batch = block_.batch;
    core.heads = core.key_value_heads = block_.heads;
    core.query_length = block_.tokens;
    core.key_length = keys();
    core.head_dimension = block_.head_dimension;
    core.causal = true;
    core.dropout = sizes_.attention_dropout;
    Activation mixed = writer_.attention(name + ".core", {&query, &key, &value}, core);
    writer_.deal_out(TensorSplit::heads, 4);  // the scores' parts and the core
    const Activation out = writer_.linear(name + ".o_net", mixed, rows, width, hidden, false);
    writer_.deal_out(TensorSplit::rows);
    Activation sum = writer_.residual(name + ".residual", drop(name + ".drop", out));
    return writer_.layer_norm(name + ".layer_norm", sum, hidden, true);
  }

  // One bias per head and feature, of all layers, which stands with the first.
  void add_query_bias(const std::string& layer, const char* bias, bool first) {
    const double n = real(block_.rows()) * real(block_.heads) * real(block_.head_dimension);
    Operator& add = writer_.pass(fmt::format("{}.{}", layer, bias), OperatorKind::elementwise, n, n, 2 * n, n);
    (first ? add.parameters : add.tied_parameters).push_back({bias, {block_.heads, block_.head_dimension}});
    add.tensor_split = TensorSplit::heads;
  }

  // Every token against the frequent words and one class per tail, a tail's tokens against its words. The
  // tables are those of the embeddings, as are the projections of the tails; the head's is its own.
  void adaptive_softmax(Activation& x) {
    writer_.begin_layer("crit");
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      const Cluster& cluster = clusters_[i];
      const std::int64_t hidden = sizes_.hidden, count = rows(i);
      const std::string name = fmt::format("crit.{}", i);
      Activation chosen = x;
      if (i > 0) {
        const double n = real(count) * real(hidden);
        writer_.pass(name + ".index_select", OperatorKind::elementwise, n, n, x.elements + 2 * n, n).kernels_backward =
            2;
        chosen = {n, false};
      }
      if (projects()) {
        const std::string projection = fmt::format("crit.out_projs.{}", i);
        chosen = i == 0 ? writer_.linear(projection, chosen, count, hidden, cluster.width, false)
                        : writer_.tied_linear(
                              projection, chosen, count, hidden, cluster.width, false,
                              {fmt::format("word_emb.emb_projs.{}.weight", i), {hidden, cluster.width}});
      }
      const std::int64_t classes = cluster.words + (i == 0 ? tails() : 0);
      // Without tables of their own the clusters' words are rows of one.
      const Activation logits = writer_.tied_linear(
          name + ".logits", chosen, count, cluster.width, classes, false,
          {fmt::format("word_emb.emb_layers.{}.weight", projects() ? i : 0), {cluster.words, cluster.width}});
      add_biases(i);
      writer_.cross_entropy(name + ".loss", logits, count);
      writer_.deal_out(TensorSplit::vocabulary, 3);
    }
  }

  // Of the logits written last. Without clusters of their own widths one vector serves all.
  void add_biases(std::size_t cluster) {
    auto& parameters = writer_.last_operator().parameters;
    if (cluster == 0) {
      parameters.push_back({"crit.cluster_weight", {tails(), sizes_.hidden}});
      parameters.push_back({"crit.cluster_bias", {tails()}});
    }
    if (projects() || cluster == 0) {
      parameters.push_back({fmt::format("crit.out_layers_biases.{}", cluster),
                            {projects() ? clusters_[cluster].words : sizes_.vocabulary}});
    }
  }

  [[nodiscard]] std::int64_t tails() const { return static_cast<std::int64_t>(clusters_.size()) - 1; }

  ModelWriter& writer_;
  const XlSizes& sizes_;
  const BlockShape& block_;
  std::vector<Cluster> clusters_;
};

}  // namespace

void build_transformer_xl(Model& model, const Sizes& sizes) {
  const XlSizes checked(sizes);
  resolve_sequence(model, sizes, 0);
  BlockShape block = checked.block(model.micro_batch, model.sequence, checked.head_dimension(sizes));
  block.norm_before = false;
  block.relu = true;
  block.activation_dropout = block.dropout;
  ModelWriter writer(model);
  XlBuilder(writer, checked, block).build();
}

}  // namespace foretrain::models
