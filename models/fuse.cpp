#include "models/fuse.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/transformer_block.h"

namespace foretrain::models {
namespace {

bool is_elementwise(const Operator& op) { return op.kind == OperatorKind::elementwise; }

MemoryShape& pass_of(Operator& op) { return std::get<MemoryShape>(op.shape); }
const MemoryShape& pass_of(const Operator& op) { return std::get<MemoryShape>(op.shape); }

bool has_tensors(const Operator& op) {
  return !op.parameters.empty() || !op.frozen_parameters.empty() || !op.tied_parameters.empty();
}

bool joins(const Operator& before, const Operator& next) {
  return is_elementwise(before) && is_elementwise(next) && before.tensor_split == next.tensor_split &&
         before.forward_only == next.forward_only && !has_tensors(next) &&
         next.output_elements == before.output_elements && pass_of(next).elements_read >= before.output_elements;
}

// `next` into `op`, whose output it reads.
void join(Operator& op, const Operator& next) {
  MemoryShape& pass = pass_of(op);
  const MemoryShape& following = pass_of(next);
  const double between = op.output_elements;
  const bool kept = op.saved_elements >= between || next.saved_elements >= between;
  const bool is_sum = following.elements_read > between;
  const bool both_go_back = op.kernels_backward > 0 && next.kernels_backward > 0;
  double backward = backward_elements(op) + backward_elements(next);
  if (both_go_back && !is_sum) backward -= 2 * between;
  pass.elements_read += following.elements_read - between;
  pass.elements_written += following.elements_written - (kept ? 0 : between);
  pass.backward_elements = backward;
  op.name += "+" + next.name.substr(next.name.rfind('.') + 1);
  op.output_elements = next.output_elements;
  op.saved_elements += next.saved_elements;
  op.kernels_forward = 1;
  op.kernels_backward = both_go_back && !is_sum ? 1 : op.kernels_backward + next.kernels_backward;
  op.sequential_steps += next.sequential_steps;
}

// Reads `inputs` tensors of the output's size once and writes the output once; back the same with gradients, which also
// reads what is kept.
void run_as_one(Operator& op, double inputs, double kept) {
  const double n = op.output_elements;
  op.shape = MemoryShape{inputs * n, n, n + kept * n + inputs * n};
  op.kernels_forward = op.kernels_backward = 1;
}

// A norm over each row, which stays on the chip; a batch norm reads everything twice.
bool is_norm_of_rows(const Operator& op) {
  return op.kind == OperatorKind::normalization && std::holds_alternative<MemoryShape>(op.shape) &&
         pass_of(op).elements_read == op.output_elements;
}

void fuse_inside(Operator& op) {
  // Both gradients in one pass over input and gradient, as in Apex, Transformer Engine and cuDNN.
  if (is_norm_of_rows(op)) pass_of(op).backward_elements = 3 * op.output_elements;
  if (is_rotation(op)) run_as_one(op, 1, 0);
  if (is_gated_activation(op)) {
    run_as_one(op, 2, 2);
    op.saved_elements -= op.output_elements;  // SiLU's result, which backward makes again from the gate
  }
}

bool is_cross_entropy(const Operator& softmax, const Operator& loss) {
  return softmax.kind == OperatorKind::softmax && loss.kind == OperatorKind::loss &&
         softmax.tensor_split == TensorSplit::vocabulary && loss.tensor_split == TensorSplit::vocabulary &&
         !softmax.forward_only;
}

// In elements of four bytes; the two-byte logits and their gradient are half of one.
Operator parallel_cross_entropy(const Operator& softmax, const Operator& loss) {
  constexpr double copy_read = 0.5, copy_written = 1, largest = 1, difference = 2, exponential = 2, sum = 1,
                   quotient = 2;
  constexpr double read = copy_read + largest + difference / 2 + exponential / 2 + sum + quotient / 2;
  constexpr double written = copy_written + difference / 2 + exponential / 2 + quotient / 2;
  constexpr double product = 2, copy_back = 1.5;
  const double n = softmax.output_elements;
  Operator fused = loss;
  fused.shape = MemoryShape{read * n, written * n, (product + copy_back) * n};
  // The probabilities in four bytes, two elements of an activation: as softmax and loss keep between them.
  fused.saved_elements = softmax.saved_elements + loss.saved_elements;
  constexpr double over_logits = 6, over_tokens = 9, back_over_logits = 2, back_over_tokens = 3;
  fused.kernels_forward = over_logits + over_tokens;
  fused.kernels_backward = back_over_logits + back_over_tokens;
  return fused;
}

std::vector<Operator> fused(std::vector<Operator> operators) {
  std::vector<Operator> result;
  for (Operator& op : operators) {
    fuse_inside(op);
    if (!result.empty() && is_cross_entropy(result.back(), op)) {
      result.back() = parallel_cross_entropy(result.back(), op);
    } else if (!result.empty() && joins(result.back(), op)) {
      join(result.back(), op);
    } else {
      result.push_back(std::move(op));
    }
  }
  return result;
}

}  // namespace

Model with_fused_kernels(Model model) {
  for (Layer& layer : model.layers) layer.operators = fused(std::move(layer.operators));
  return model;
}

}  // namespace foretrain::models
