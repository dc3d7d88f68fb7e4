#include "models/transformer_block.h"

namespace foretrain::models {
namespace {

class BlockWriter {
 public:
  BlockWriter(ModelWriter& writer, const std::string& name, const BlockShape& shape, const BlockNames& names)
      : writer_(writer), prefix_(name + "."), shape_(shape), names_(names) {}

  Activation write(Activation x) {
    x = with_norm_and_residual(x, names_.attention_norm, "attention_residual", &BlockWriter::attention_branch);
    return with_norm_and_residual(x, names_.feed_forward_norm, "feed_forward_residual",
                                  &BlockWriter::feed_forward_branch);
  }

 private:
  using Branch = Activation (BlockWriter::*)(Activation&);

  Activation with_norm_and_residual(Activation& x, const std::string& norm, const std::string& residual,
                                    Branch branch) {
    if (shape_.norm_before) {
      Activation normed = layer_norm(norm, x);
      return writer_.residual(prefix_ + residual, (this->*branch)(normed));
    }
    Activation sum = writer_.residual(prefix_ + residual, (this->*branch)(x));
    return layer_norm(norm, sum);
  }

  Activation layer_norm(const std::string& name, Activation& x) {
    return writer_.layer_norm(prefix_ + name, x, shape_.hidden, !shape_.rms_norm);
  }

  Activation linear(const std::string& name, Activation& x, std::int64_t in, std::int64_t out, bool bias) {
    return writer_.linear(prefix_ + name, x, shape_.rows(), in, out, bias);
  }

  Activation drop(const std::string& name, const Activation& x) {
    return shape_.dropout ? writer_.dropout(prefix_ + name, x) : x;
  }

  Activation attention_branch(Activation& x) {
    const std::int64_t query_width = shape_.heads * shape_.head_dimension;
    const std::int64_t key_width = shape_.key_value_heads * shape_.head_dimension;
    const auto tensor = [this](std::int64_t width) {
      return Activation{static_cast<double>(shape_.rows()) * static_cast<double>(width), false};
    };
    Activation query = tensor(query_width), key = tensor(key_width), value = tensor(key_width);
    const bool bias = shape_.query_key_value_biases;
    if (names_.query_key_value.empty()) {
      linear(names_.query, x, shape_.hidden, query_width, bias);
      linear(names_.key, x, shape_.hidden, key_width, bias);
      linear(names_.value, x, shape_.hidden, key_width, bias);
    } else {
      linear(names_.query_key_value, x, shape_.hidden, query_width + 2 * key_width, bias);
    }
    if (shape_.rotary) rotate(query, key);

    AttentionShape core;
    core.batch = shape_.batch;
    core.heads = shape_.heads;
    core.query_length = core.key_length = shape_.tokens;
    core.head_dimension = shape_.head_dimension;
    core.causal = shape_.causal;
    core.key_value_heads = shape_.key_value_heads;
    core.dropout = shape_.dropout;
    Activation mixed = writer_.attention(prefix_ + names_.attention, {&query, &key, &value}, core);
    return drop("attention_dropout", linear(names_.projection, mixed, query_width, shape_.hidden, shape_.biases));
  }

  // x·cos + rotate_half(x)·sin on queries and keys, as separate kernels: two products, a negation of one
  // half, a concatenation, an addition; each tensor is read 5.5 and written 4.5 times. Its backward is the
  // inverse rotation.
  void rotate(const Activation& query, const Activation& key) {
    const double n = query.elements + key.elements;
    Operator& op = writer_.pass(prefix_ + "rotary_positions", OperatorKind::elementwise, 5.5 * n, 4.5 * n, 10 * n, n);
    op.kernels_forward = op.kernels_backward = 10;
  }

  Activation feed_forward_branch(Activation& x) {
    Activation up = linear(names_.up, x, shape_.hidden, shape_.feed_forward, shape_.biases);
    Activation active;
    if (shape_.gated) {
      Activation gate = linear(names_.gate, x, shape_.hidden, shape_.feed_forward, shape_.biases);
      active = writer_.swiglu(prefix_ + "swiglu", gate, up);
    } else {
      active = writer_.gelu(prefix_ + "gelu", up);
    }
    return drop("feed_forward_dropout", linear(names_.down, active, shape_.feed_forward, shape_.hidden, shape_.biases));
  }

  ModelWriter& writer_;
  std::string prefix_;
  const BlockShape& shape_;
  const BlockNames& names_;
};

}  // namespace

Activation write_block(ModelWriter& writer, const std::string& name, Activation input, const BlockShape& shape,
                       const BlockNames& names) {
  writer.begin_layer(name);
  return BlockWriter(writer, name, shape, names).write(input);
}

}  // namespace foretrain::models
