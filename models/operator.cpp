#include "models/operator.h"

#include <algorithm>

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct ForwardFlops {
  double operator()(const GemmShape& s) const { return 2 * real(s.batch) * real(s.m) * real(s.n) * real(s.k); }
  double operator()(const ConvolutionShape& s) const {
    const double outputs = real(s.batch) * real(s.out_channels) * real(s.out_height) * real(s.out_width);
    return 2 * outputs * real(s.in_channels) / real(s.groups) * real(s.kernel_height) * real(s.kernel_width);
  }
  double operator()(const AttentionShape& s) const {  // query·keyᵀ and probabilities·value
    return 4 * score_elements(s) * real(s.head_dimension);
  }
  double operator()(const RecurrentShape& s) const {
    const double rows = real(s.batch) * real(s.steps) * real(s.directions);
    return 2 * rows * real(s.gates) * real(s.hidden) * (real(s.input) + real(s.hidden));
  }
  double operator()(const MemoryShape&) const { return 0; }
};

struct ForwardElements {
  double operator()(const GemmShape& s) const {
    return real(s.batch) * (real(s.m) * real(s.k) + real(s.k) * real(s.n) + real(s.m) * real(s.n));
  }
  double operator()(const ConvolutionShape& s) const {
    const double input = real(s.batch) * real(s.in_channels) * real(s.height) * real(s.width);
    const double output = real(s.batch) * real(s.out_channels) * real(s.out_height) * real(s.out_width);
    const double weight =
        real(s.out_channels) * real(s.in_channels) / real(s.groups) * real(s.kernel_height) * real(s.kernel_width);
    return input + weight + output;
  }
  double operator()(const AttentionShape& s) const {
    const double key_value_heads = real(s.key_value_heads > 0 ? s.key_value_heads : s.heads);
    const double query_and_output = 2 * real(s.heads) * real(s.query_length);
    const double key_and_value = 2 * key_value_heads * real(s.key_length);
    return real(s.batch) * real(s.head_dimension) * (query_and_output + key_and_value);
  }
  double operator()(const RecurrentShape& s) const {
    const double rows = real(s.batch) * real(s.steps);
    const double gates = real(s.directions) * real(s.gates) * real(s.hidden);
    const double weight = gates * (real(s.input) + real(s.hidden));
    // The input product writes the gates' sums, which the steps read.
    return rows * real(s.input) + weight + 2 * rows * gates + rows * real(s.directions) * real(s.hidden);
  }
  double operator()(const MemoryShape& s) const { return s.elements_read + s.elements_written; }
};

// A bias is a vector beside a weight; its gradient is one more read of the output's gradient.
bool has_bias(const Operator& op) {
  return std::any_of(op.parameters.begin(), op.parameters.end(),
                     [](const ParameterTensor& tensor) { return tensor.shape.size() == 1; });
}

std::int64_t elements_of(const std::vector<ParameterTensor>& tensors) {
  std::int64_t sum = 0;
  for (const ParameterTensor& tensor : tensors) sum += tensor.elements();
  return sum;
}

}  // namespace

const std::vector<std::string>& operator_kind_names() {
  static const std::vector<std::string> names = {"gemm",        "convolution",   "attention", "recurrent",
                                                 "elementwise", "normalization", "softmax",   "pooling",
                                                 "embedding",   "loss"};
  return names;
}

const char* to_string(OperatorKind kind) { return operator_kind_names()[static_cast<std::size_t>(kind)].c_str(); }

std::int64_t ParameterTensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

Flops forward_flops(const Operator& op) { return Flops(std::visit(ForwardFlops{}, op.shape)); }

Flops backward_flops(const Operator& op) {
  if (op.forward_only) return Flops(0);
  const Flops forward = forward_flops(op);
  if (op.needs_input_gradient) return 2 * forward;
  const auto* recurrent = std::get_if<RecurrentShape>(&op.shape);
  if (!recurrent) return forward;
  // Without the gradient by the layer's input the gradient by the previous step remains.
  const double by_input = real(recurrent->input) / (real(recurrent->input) + real(recurrent->hidden));
  return (2 - by_input) * forward;
}

double forward_elements(const Operator& op) { return std::visit(ForwardElements{}, op.shape); }

double backward_elements(const Operator& op) {
  if (op.forward_only) return 0;
  const double forward = forward_elements(op);
  if (const auto* memory = std::get_if<MemoryShape>(&op.shape)) return memory->backward_elements.value_or(2 * forward);
  const double gradients = op.needs_input_gradient ? 2 * forward : forward;
  return gradients + (has_bias(op) ? op.output_elements : 0);
}

std::int64_t parameter_count(const Operator& op) { return elements_of(op.parameters); }

std::int64_t frozen_parameter_count(const Operator& op) { return elements_of(op.frozen_parameters); }

double score_elements(const AttentionShape& shape) {
  return real(shape.batch) * real(shape.heads) * real(shape.query_length) * real(shape.key_length);
}

double unfused_saved_elements(const AttentionShape& shape) {
  constexpr double probabilities = 1, dropped_out = 1, mask = 0.5;
  return score_elements(shape) * (shape.dropout ? probabilities + dropped_out + mask : probabilities);
}

double unfused_kernels_forward(const AttentionShape& shape) {
  return 4 + (shape.causal ? 1 : 0) + (shape.dropout ? 1 : 0);
}

double unfused_kernels_backward(const AttentionShape& shape) {
  constexpr double further_products = 2;
  return unfused_kernels_forward(shape) + further_products;
}

}  // namespace foretrain::models
