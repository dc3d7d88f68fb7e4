#include "models/transformer_block.h"

#include <string_view>

namespace foretrain::models {
namespace {

constexpr std::string_view rotation = "rotary_positions", gated_activation = "swiglu";
constexpr double rotation_kernels = 10, gated_activation_kernels = 2;

bool is_called(const Operator& op, std::string_view part) {
  return op.name.size() > part.size() && op.name.compare(op.name.size() - part.size() - 1, 1, ".") == 0 &&
         op.name.compare(op.name.size() - part.size(), part.size(), part) == 0;
}

class BlockWriter {
 public:
  BlockWriter(ModelWriter& writer, const std::string& name, const BlockShape& shape, const BlockNames& names)
      : writer_(writer), prefix_(name + "."), shape_(shape), names_(names) {}

  Activation self_attention(Activation x) {
    return with_norm_and_residual(x, names_.attention_norm, "attention_residual",
                                  [this](Activation& input) { return self_attention_branch(input); });
  }

  Activation cross_attention(Activation x, Activation& memory, std::int64_t memory_tokens,
                             const CrossAttentionNames& names) {
    return with_norm_and_residual(x, names.attention_norm, "cross_attention_residual", [&](Activation& input) {
      return cross_attention_branch(input, memory, memory_tokens, names);
    });
  }

  Activation feed_forward(Activation x) {
    return with_norm_and_residual(x, names_.feed_forward_norm, "feed_forward_residual",
                                  [this](Activation& input) { return feed_forward_branch(input); });
  }

 private:
  template <class Branch>
  Activation with_norm_and_residual(Activation& x, const std::string& norm, const std::string& residual,
                                    Branch branch) {
    if (shape_.norm_before) {
      Activation normed = layer_norm(norm, x);
      return writer_.residual(prefix_ + residual, branch(normed));
    }
    Activation sum = writer_.residual(prefix_ + residual, branch(x));
    return layer_norm(norm, sum);
  }

  Activation layer_norm(const std::string& name, Activation& x) {
    return writer_.layer_norm(prefix_ + name, x, shape_.hidden, !shape_.rms_norm);
  }

  Activation linear(const std::string& name, Activation& x, std::int64_t in, std::int64_t out, bool bias,
                    TensorSplit split) {
    return linear(name, x, shape_.rows(), in, out, bias, split);
  }

  Activation linear(const std::string& name, Activation& x, std::int64_t rows, std::int64_t in, std::int64_t out,
                    bool bias, TensorSplit split) {
    const Activation output = writer_.linear(prefix_ + name, x, rows, in, out, bias);
    writer_.deal_out(split);
    return output;
  }

  Activation drop(const std::string& name, const Activation& x) {
    return shape_.dropout ? writer_.dropout(prefix_ + name, x) : x;
  }

  [[nodiscard]] std::int64_t query_width() const { return shape_.heads * shape_.head_dimension; }
  [[nodiscard]] std::int64_t key_width() const { return shape_.key_value_heads * shape_.head_dimension; }

  static Activation tensor(std::int64_t rows, std::int64_t width) {
    return {static_cast<double>(rows) * static_cast<double>(width), false};
  }

  Activation self_attention_branch(Activation& x) {
    const bool bias = shape_.query_key_value_biases;
    if (names_.query_key_value.empty()) {
      linear(names_.query, x, shape_.hidden, query_width(), bias, TensorSplit::columns);
      linear(names_.key, x, shape_.hidden, key_width(), bias, TensorSplit::columns);
      linear(names_.value, x, shape_.hidden, key_width(), bias, TensorSplit::columns);
    } else {
      linear(names_.query_key_value, x, shape_.hidden, query_width() + 2 * key_width(), bias, TensorSplit::columns);
    }
    const std::int64_t rows = shape_.rows();
    Activation query = tensor(rows, query_width()), key = tensor(rows, key_width()), value = tensor(rows, key_width());
    if (shape_.query_key_norms) {
      query = norm_of_heads("query_norm", query);
      key = norm_of_heads("key_norm", key);
    }
    if (shape_.rotary) rotate(query, key);
    if (shape_.position_bias) add_position_bias();
    Activation mixed = core(names_.attention, query, key, value, shape_.tokens, shape_.causal);
    return drop("attention_dropout", linear(names_.projection, mixed, query_width(), shape_.hidden, shape_.biases,
                                            TensorSplit::rows));
  }

  Activation cross_attention_branch(Activation& x, Activation& memory, std::int64_t memory_tokens,
                                    const CrossAttentionNames& names) {
    const bool bias = shape_.query_key_value_biases;
    const std::int64_t rows = shape_.batch * memory_tokens;
    Activation query = linear(names.query, x, shape_.hidden, query_width(), bias, TensorSplit::columns);
    Activation key = linear(names.key, memory, rows, shape_.hidden, key_width(), bias, TensorSplit::columns);
    Activation value = linear(names.value, memory, rows, shape_.hidden, key_width(), bias, TensorSplit::columns);
    Activation mixed = core(names.attention, query, key, value, memory_tokens, false);
    return drop("cross_attention_dropout", linear(names.projection, mixed, query_width(), shape_.hidden, shape_.biases,
                                                  TensorSplit::rows));
  }

  Activation core(const std::string& name, Activation& query, Activation& key, Activation& value,
                  std::int64_t key_tokens, bool causal) {
    AttentionShape shape;
    shape.batch = shape_.batch;
    shape.heads = shape_.heads;
    shape.query_length = shape_.tokens;
    shape.key_length = key_tokens;
    shape.head_dimension = shape_.head_dimension;
    shape.causal = causal;
    shape.key_value_heads = shape_.key_value_heads;
    shape.dropout = shape_.dropout;
    const Activation mixed = writer_.attention(prefix_ + name, {&query, &key, &value}, shape);
    writer_.deal_out(TensorSplit::heads);
    return mixed;
  }

  // x·cos + rotate_half(x)·sin on queries and keys, as separate kernels: two products, a negation of one
  // half, a concatenation, an addition; each tensor is read 5.5 and written 4.5 times. Its backward is the
  // inverse rotation.
  void rotate(const Activation& query, const Activation& key) {
    const double n = query.elements + key.elements;
    Operator& op =
        writer_.pass(prefix_ + std::string(rotation), OperatorKind::elementwise, 5.5 * n, 4.5 * n, 10 * n, n);
    op.kernels_forward = op.kernels_backward = rotation_kernels;
    op.tensor_split = TensorSplit::heads;
  }

  // One set of weights for all heads.
  Activation norm_of_heads(const std::string& name, Activation& x) {
    const Activation output = writer_.layer_norm(prefix_ + name, x, shape_.head_dimension, !shape_.rms_norm);
    writer_.deal_out(TensorSplit::heads);
    return output;
  }

  // One bias for all samples; its gradient is the scores' summed over them, added to those of the other layers.
  void add_position_bias() {
    const double tokens = static_cast<double>(shape_.tokens);
    const double bias = static_cast<double>(shape_.heads) * tokens * tokens;
    const double scores = static_cast<double>(shape_.batch) * bias;
    if (shape_.position_buckets > 0) {
      Operator& lookup = writer_.pass(prefix_ + "relative_attention_bias", OperatorKind::embedding, bias, bias,
                                      2 * bias, bias);
      lookup.parameters.push_back({lookup.name + ".weight", {shape_.position_buckets, shape_.heads}});
      lookup.needs_input_gradient = false;
      lookup.tensor_split = TensorSplit::heads;
    }
    writer_.pass(prefix_ + "position_bias", OperatorKind::elementwise, scores + bias, scores, scores + 2 * bias, scores)
        .tensor_split = TensorSplit::heads;
  }

  Activation feed_forward_branch(Activation& x) {
    Activation up = linear(names_.up, x, shape_.hidden, shape_.feed_forward, shape_.biases, TensorSplit::columns);
    Activation active;
    if (shape_.gated) {
      Activation gate = linear(names_.gate, x, shape_.hidden, shape_.feed_forward, shape_.biases, TensorSplit::columns);
      active = writer_.swiglu(prefix_ + std::string(gated_activation), gate, up);
    } else {
      active = shape_.relu ? writer_.relu(prefix_ + "relu", up) : writer_.gelu(prefix_ + "gelu", up);
    }
    writer_.deal_out(TensorSplit::features);
    if (shape_.activation_dropout) {
      active = writer_.dropout(prefix_ + "activation_dropout", active);
      writer_.deal_out(TensorSplit::features);
    }
    return drop("feed_forward_dropout", linear(names_.down, active, shape_.feed_forward, shape_.hidden, shape_.biases,
                                               TensorSplit::rows));
  }

  ModelWriter& writer_;
  std::string prefix_;
  const BlockShape& shape_;
  const BlockNames& names_;
};

}  // namespace

bool is_rotation(const Operator& op) { return is_called(op, rotation) && op.kernels_forward == rotation_kernels; }

bool is_gated_activation(const Operator& op) {
  return is_called(op, gated_activation) && op.kernels_forward == gated_activation_kernels;
}

Activation write_block(ModelWriter& writer, const std::string& name, Activation input, const BlockShape& shape,
                       const BlockNames& names) {
  writer.begin_layer(name, true);
  BlockWriter block(writer, name, shape, names);
  return block.feed_forward(block.self_attention(input));
}

Activation write_decoder_block(ModelWriter& writer, const std::string& name, Activation input, Activation& memory,
                               std::int64_t memory_tokens, const BlockShape& shape, const BlockNames& names,
                               const CrossAttentionNames& cross_names) {
  writer.begin_layer(name, true);
  BlockWriter block(writer, name, shape, names);
  const Activation x = block.cross_attention(block.self_attention(input), memory, memory_tokens, cross_names);
  return block.feed_forward(x);
}

Activation write_feed_forward(ModelWriter& writer, const std::string& name, Activation input, const BlockShape& shape,
                              const BlockNames& names) {
  return BlockWriter(writer, name, shape, names).feed_forward(input);
}

}  // namespace foretrain::models
