// One transformer layer: attention and a feed-forward network, each with a norm and a residual connection.
//
// The same code writes the layers of encoders (norm after), decoders and vision transformers (norm before), and
// those of a decoder that also attends to an encoder's output.
#pragma once

#include <cstdint>
#include <string>

#include "models/model_writer.h"

namespace foretrain::models {

// Names of a layer's parts below the layer's own, as the model's usual PyTorch implementation has them.
struct BlockNames {
  std::string query_key_value;  // one product; or, when empty, three:
  std::string query, key, value;
  std::string attention;  // the core, without parameters
  std::string projection, attention_norm;
  std::string up, gate, down, feed_forward_norm;
};

// Of an attention to an encoder's output.
struct CrossAttentionNames {
  std::string query, key, value, attention, projection, attention_norm;
};

struct BlockShape {
  std::int64_t batch = 0, tokens = 0;
  std::int64_t hidden = 0, heads = 0, key_value_heads = 0, head_dimension = 0, feed_forward = 0;
  bool causal = false;
  bool norm_before = true;
  bool rms_norm = false;  // a norm without bias
  bool gated = false;     // SwiGLU: two products in, silu(gate)·up, one out
  bool relu = false;      // in place of GELU
  bool rotary = false;    // rotary positions on queries and keys
  bool query_key_norms = false;  // a norm over every head of queries and keys
  // A learned bias of every score by distance, as T5 has it: a table of so many buckets, which the first layer holds.
  bool position_bias = false;
  std::int64_t position_buckets = 0;  // of the table that this layer holds; 0 = another one does
  bool biases = true;
  bool query_key_value_biases = true;
  bool dropout = false;             // on probabilities and on every branch
  bool activation_dropout = false;  // also after the activation of the feed-forward network

  [[nodiscard]] std::int64_t rows() const { return batch * tokens; }
};

// Appends the layer `name` over `input` (rows × hidden) and returns its output.
Activation write_block(ModelWriter& writer, const std::string& name, Activation input, const BlockShape& shape,
                       const BlockNames& names);

// The same with an attention to `memory` (batch × memory_tokens × hidden) between the two.
Activation write_decoder_block(ModelWriter& writer, const std::string& name, Activation input, Activation& memory,
                               std::int64_t memory_tokens, const BlockShape& shape, const BlockNames& names,
                               const CrossAttentionNames& cross_names);

// Whether `op` is a layer's rotation of queries and keys by their positions, or its SwiGLU: several element-wise
// kernels in one operator.
[[nodiscard]] bool is_rotation(const Operator& op);
[[nodiscard]] bool is_gated_activation(const Operator& op);

// The feed-forward network alone, with its norm and residual connection, into the layer begun last.
Activation write_feed_forward(ModelWriter& writer, const std::string& name, Activation input, const BlockShape& shape,
                              const BlockNames& names);

}  // namespace foretrain::models
