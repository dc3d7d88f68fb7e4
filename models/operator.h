// Operators: what a model does to one micro-batch, as shapes and counts.
//
// An operator is one call of a framework: a matrix product, an attention core, a convolution, a
// recurrent layer, or a pass over memory (element-wise, norm, softmax, pooling, embedding, loss). It
// carries what its time, its memory and its gradients follow from, for the micro-batch that the model
// was built for; it knows nothing about devices. FLOPs count a multiply-add as two; passes over memory
// count elements read plus elements written, so that the bytes follow from the precision. Elements are
// those of an activation (activation_bytes); masks of one byte count as half an element and indices of
// eight bytes as four, which is exact in two-byte formats and too much by half of them in fp32. The kinds
// softmax (over classes) and loss run in four bytes under mixed precision, as autocast has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"

namespace foretrain::models {

struct GemmShape {  // `batch` independent products (m×k)·(k×n)
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
};
// A convolution over volumes stands with its depth folded into its height (and the kernels' and strides' alike), which
// leaves FLOPs, elements and the product that it amounts to as they are.
struct ConvolutionShape {
  std::int64_t batch = 0, in_channels = 0, height = 0, width = 0;  // input
  std::int64_t out_channels = 0, kernel_height = 0, kernel_width = 0;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t groups = 1;
};
struct AttentionShape {  // the score·softmax·value core, without projections
  std::int64_t batch = 0, heads = 0, query_length = 0, key_length = 0, head_dimension = 0;
  bool causal = false;
  std::int64_t key_value_heads = 0;  // 0 = heads; fewer under grouped queries
  bool dropout = false;              // on the attention probabilities
};
struct RecurrentShape {  // one layer, all time steps; gates: LSTM 4, GRU 3, plain 1
  std::int64_t batch = 0, steps = 0, input = 0, hidden = 0, directions = 1, gates = 4;
};
struct MemoryShape {  // a pass over memory
  double elements_read = 0, elements_written = 0;
  std::optional<double> backward_elements;  // read plus written on the way back; empty = twice the forward pass
};
using Shape = std::variant<GemmShape, ConvolutionShape, AttentionShape, RecurrentShape, MemoryShape>;

// What kind of work a pass over memory is (efficiency and fusing differ); for other shapes it is implied.
// clang-format off
enum class OperatorKind {
  gemm, convolution, attention, recurrent, elementwise, normalization, softmax, pooling, embedding, loss
};
// clang-format on
[[nodiscard]] const char* to_string(OperatorKind kind);
[[nodiscard]] const std::vector<std::string>& operator_kind_names();

// What a tensor-parallel rank has of an operator, as Megatron-LM deals a transformer out (Shoeybi et al. 2019,
// arXiv:1909.08053, section 3).
enum class TensorSplit {
  none,        // all of it, on the tokens of the whole sequence or (sequence parallelism) its part of them
  columns,     // a product of its part of the outputs; needs all of the inputs
  rows,        // a product of its part of the inputs; the ranks' results are summed up
  heads,       // its part of the attention heads
  features,    // a pass over its part of the features between a `columns` and a `rows` product
  vocabulary,  // its part of the vocabulary: of a table (the ranks' lookups are summed up), of the product that makes
               // logits (needs all of the inputs, as `columns`), of logits and of a loss over them
};

struct ParameterTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  [[nodiscard]] std::int64_t elements() const;
};

struct Operator {
  std::string name;
  OperatorKind kind = OperatorKind::elementwise;
  Shape shape;
  std::vector<ParameterTensor> parameters;         // trained by this operator; a tied tensor stands with its first user
  std::vector<ParameterTensor> frozen_parameters;  // used but not trained: no gradients, no optimizer state
  // Tensors that stand with another operator of the model and are used here too (an output layer tied to the embedding);
  // a pipeline stage without that other operator has its own copy, whose gradients are added to those of the other.
  std::vector<ParameterTensor> tied_parameters;
  TensorSplit tensor_split = TensorSplit::none;
  // Large tables (embeddings of a recommender, a classifier of many identities) that jobs often spread over the
  // ranks, each holding a part, instead of copying them; a plan may leave their gradients out of data parallelism.
  bool often_sharded = false;
  // Has no backward pass, keeps nothing, trains nothing: a frozen layer that no gradient has to cross, or a step that
  // frameworks take without gradients (the choice of boxes).
  bool forward_only = false;
  double saved_elements = 0;  // kept from forward to backward (its inputs or outputs, once)
  double output_elements = 0;
  bool needs_input_gradient = true;  // false for the first operator of a model
  double kernels_forward = 1;        // kernels a framework launches without fusing; of attention: its unfused core
  double kernels_backward = 2;       // (a fused core is 1 forward and, in FlashAttention, 3 backward)
  double sequential_steps = 0;       // dependent steps inside (a CTC loss); recurrent layers: in the shape
};

// FLOPs of one direction. Attention counts every score, causal or not (the convention of Megatron and
// PaLM; a kernel that skips masked scores does about half). Backward of products: gradient by input (if
// needed) and by weight; of attention: two products for each of the forward pass, without what a fused
// kernel computes again; zero where an operator runs forward only.
[[nodiscard]] Flops forward_flops(const Operator& op);
[[nodiscard]] Flops backward_flops(const Operator& op);
// Elements read plus written, once through (tensors of products and recurrent layers once, weights
// included; attention without its score matrix).
[[nodiscard]] double forward_elements(const Operator& op);
[[nodiscard]] double backward_elements(const Operator& op);
[[nodiscard]] std::int64_t parameter_count(const Operator& op);  // trained ones
[[nodiscard]] std::int64_t frozen_parameter_count(const Operator& op);

// The score matrix of an attention core, batch × heads × queries × keys. A fused kernel never stores it.
[[nodiscard]] double score_elements(const AttentionShape& shape);
// What an unfused core keeps beside the operator's saved_elements: the softmax result and, with dropout,
// the dropped-out result and the mask (in two-byte formats 5 bytes per score: Korthikanti et al. 2022,
// "Reducing Activation Recomputation in Large Transformer Models", section 4.1).
[[nodiscard]] double unfused_saved_elements(const AttentionShape& shape);
// Kernels of an unfused core: two products, scale, softmax, and where asked mask and dropout; on the way
// back each product has two.
[[nodiscard]] double unfused_kernels_forward(const AttentionShape& shape);
[[nodiscard]] double unfused_kernels_backward(const AttentionShape& shape);

}  // namespace foretrain::models
