#include "models/model_writer.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

// What stays of a tensor for backward in one-byte masks and eight-byte indices, in elements of two bytes.
constexpr double mask_elements = 0.5;
constexpr double index_elements = 4;

void add_bias(Operator& op, std::int64_t extent) { op.parameters.push_back({op.name + ".bias", {extent}}); }

ConvolutionShape convolution_shape(std::int64_t batch, const Image& input, std::int64_t out_channels,
                                   const Window& window) {
  ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = input.channels;
  shape.height = input.height;
  shape.width = input.width;
  shape.out_channels = out_channels;
  shape.kernel_height = window.kernel_height;
  shape.kernel_width = window.kernel_width;
  shape.stride_height = window.stride_height;
  shape.stride_width = window.stride_width;
  shape.out_height = window_output(input.height, window.kernel_height, window.stride_height, window.padding_height);
  shape.out_width = window_output(input.width, window.kernel_width, window.stride_width, window.padding_width);
  return shape;
}

}  // namespace

Window square_window(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {kernel, kernel, stride, stride, padding, padding};
}

std::int64_t window_output(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::int64_t room = input + 2 * padding - kernel;
  return room < 0 ? 0 : room / stride + 1;
}

void ModelWriter::begin_layer(std::string name, bool is_block) {
  model_.layers.push_back({std::move(name), {}, is_block});
}

void ModelWriter::deal_out(TensorSplit split, std::size_t operators) {
  auto& written = model_.layers.back().operators;
  assert(operators <= written.size());
  for (std::size_t i = written.size() - operators; i < written.size(); ++i) written[i].tensor_split = split;
}

Operator& ModelWriter::add(Operator op) {
  if (is_first()) op.needs_input_gradient = false;
  auto& operators = model_.layers.back().operators;
  operators.push_back(std::move(op));
  return operators.back();
}

void ModelWriter::use_weights_of(const std::string& other, bool own_norms) {
  const auto& layers = model_.layers;
  const auto first_user =
      std::find_if(layers.begin(), layers.end(), [&other](const Layer& layer) { return layer.name == other; });
  assert(first_user != layers.end() && first_user->operators.size() >= layers.back().operators.size());
  auto owner = first_user->operators.begin();
  double added_elements = 0, tensors = 0;
  for (Operator& op : model_.layers.back().operators) {
    const Operator& same = *owner++;
    if (own_norms && op.kind == OperatorKind::normalization) continue;
    const double with_weights = backward_elements(op);
    added_elements += 3 * real(parameter_count(op));
    tensors += static_cast<double>(op.parameters.size());
    op.tied_parameters.insert(op.tied_parameters.end(), same.parameters.begin(), same.parameters.end());
    op.parameters.clear();
    added_elements += with_weights - backward_elements(op);  // the gradient of a bias is still computed
  }
  Operator& last = model_.layers.back().operators.back();
  auto& pass = std::get<MemoryShape>(last.shape);
  pass.backward_elements = backward_elements(last) + added_elements;
  last.kernels_backward += tensors;
}

void ModelWriter::freeze_so_far() {
  for (Layer& layer : model_.layers) {
    for (Operator& op : layer.operators) {
      op.forward_only = true;
      op.needs_input_gradient = false;
      op.saved_elements = 0;
      op.kernels_backward = 0;
      std::move(op.parameters.begin(), op.parameters.end(), std::back_inserter(op.frozen_parameters));
      op.parameters.clear();
    }
  }
}

double ModelWriter::keep(Activation& tensor) {
  if (tensor.kept) return 0;
  tensor.kept = true;
  return tensor.elements;
}

// --- products ---------------------------------------------------------------------------------------

Activation ModelWriter::linear(const std::string& name, Activation& input, std::int64_t rows, std::int64_t in,
                               std::int64_t out, bool bias) {
  Operator& op = product(name, input, {1, rows, out, in}, bias);
  op.parameters.insert(op.parameters.begin(), {name + ".weight", {out, in}});
  return {op.output_elements, false};
}

Activation ModelWriter::tied_linear(const std::string& name, Activation& input, std::int64_t rows, std::int64_t in,
                                    std::int64_t out, bool bias, ParameterTensor weight) {
  Operator& op = product(name, input, {1, rows, out, in}, bias);
  op.tied_parameters.push_back(std::move(weight));
  return {op.output_elements, false};
}

Operator& ModelWriter::product(const std::string& name, Activation& input, const GemmShape& shape, bool bias) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::gemm;
  op.shape = shape;
  if (bias) add_bias(op, shape.n);
  op.saved_elements = keep(input);
  op.output_elements = real(shape.m) * real(shape.n);
  op.needs_input_gradient = !input.constant;
  op.kernels_forward = 1;  // the bias is added by the product's own kernel
  op.kernels_backward = bias ? 3 : 2;
  return add(std::move(op));
}

Image ModelWriter::convolution(const std::string& name, Image& input, std::int64_t out_channels, const Window& window,
                               bool bias, std::int64_t groups) {
  ConvolutionShape shape = convolution_shape(model_.micro_batch, input, out_channels, window);
  shape.groups = groups;
  const std::vector<std::int64_t> weight = {out_channels, input.channels / groups, window.kernel_height,
                                            window.kernel_width};
  return {out_channels, shape.out_height, shape.out_width, convolution(name, input.data, shape, weight, bias)};
}

Activation ModelWriter::convolution(const std::string& name, Activation& input, const ConvolutionShape& shape,
                                    std::vector<std::int64_t> weight, bool bias) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::convolution;
  op.shape = shape;
  op.parameters.push_back({name + ".weight", std::move(weight)});
  if (bias) add_bias(op, shape.out_channels);
  op.saved_elements = keep(input);
  op.output_elements = real(shape.batch) * real(shape.out_channels) * real(shape.out_height) * real(shape.out_width);
  op.needs_input_gradient = !input.constant;
  op.kernels_forward = bias ? 2 : 1;  // cuDNN adds a bias by a kernel of its own
  op.kernels_backward = bias ? 3 : 2;
  return {add(std::move(op)).output_elements, false};
}

Image ModelWriter::transposed_convolution(const std::string& name, Image& input, std::int64_t out_channels,
                                          const Window& window, bool bias) {
  const auto grown = [](std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    return (extent - 1) * stride + kernel - 2 * padding;
  };
  Image output{out_channels,
               grown(input.height, window.kernel_height, window.stride_height, window.padding_height),
               grown(input.width, window.kernel_width, window.stride_width, window.padding_width),
               {}};
  const ConvolutionShape back = convolution_shape(model_.micro_batch, output, input.channels, window);
  output.data = transposed_convolution(name, input.data, back,
                                       {input.channels, out_channels, window.kernel_height, window.kernel_width}, bias);
  return output;
}

Activation ModelWriter::transposed_convolution(const std::string& name, Activation& input, const ConvolutionShape& back,
                                               std::vector<std::int64_t> weight, bool bias) {
  convolution(name, input, back, std::move(weight), false);
  Operator& op = last_operator();
  if (bias) {
    add_bias(op, back.in_channels);
    op.kernels_forward = 2;
    op.kernels_backward = 3;
  }
  op.output_elements = real(back.batch) * real(back.in_channels) * real(back.height) * real(back.width);
  return {op.output_elements, false};
}

Activation ModelWriter::products(const std::string& name, Activation& left, Activation& right, const GemmShape& shape) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::gemm;
  op.shape = shape;
  op.saved_elements = keep(left) + keep(right);
  op.output_elements = real(shape.batch) * real(shape.m) * real(shape.n);
  return {add(std::move(op)).output_elements, false};
}

Activation ModelWriter::attention(const std::string& name, const std::vector<Activation*>& inputs,
                                  const AttentionShape& shape) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::attention;
  op.shape = shape;
  for (Activation* input : inputs) op.saved_elements += keep(*input);
  op.output_elements = real(shape.batch) * real(shape.heads) * real(shape.query_length) * real(shape.head_dimension);
  op.kernels_forward = unfused_kernels_forward(shape);
  op.kernels_backward = unfused_kernels_backward(shape);
  return {add(std::move(op)).output_elements, false};
}

Activation ModelWriter::lstm(const std::string& name, Activation& input, const RecurrentShape& shape, int layer) {
  Operator op;
  op.name = fmt::format("{}.l{}", name, layer);
  op.kind = OperatorKind::recurrent;
  op.shape = shape;
  for (std::int64_t direction = 0; direction < shape.directions; ++direction) {
    const std::string suffix = fmt::format("_l{}{}", layer, direction == 0 ? "" : "_reverse");
    const std::int64_t gates = shape.gates * shape.hidden;
    op.parameters.push_back({fmt::format("{}.weight_ih{}", name, suffix), {gates, shape.input}});
    op.parameters.push_back({fmt::format("{}.weight_hh{}", name, suffix), {gates, shape.hidden}});
    op.parameters.push_back({fmt::format("{}.bias_ih{}", name, suffix), {gates}});
    op.parameters.push_back({fmt::format("{}.bias_hh{}", name, suffix), {gates}});
  }
  const double states = real(shape.batch) * real(shape.steps) * real(shape.directions) * real(shape.hidden);
  // Beside its input: each step's gates, the cell and its tanh, and the hidden states, which are the output.
  op.saved_elements = keep(input) + states * (real(shape.gates) + 2) + states;
  op.output_elements = states;
  // Launches of the framework; what runs per step inside cuDNN follows from the shape. Per direction the
  // input's product and the recurrence; back the recurrence, the input's gradient and the weights'.
  op.kernels_forward = 2 * real(shape.directions);
  op.kernels_backward = 3 * real(shape.directions);
  add(std::move(op));
  return {states, true};
}

// --- passes over memory -----------------------------------------------------------------------------

Operator& ModelWriter::pass(const std::string& name, OperatorKind kind, double read, double written, double backward,
                            double output) {
  Operator op;
  op.name = name;
  op.kind = kind;
  op.shape = MemoryShape{read, written, backward};
  op.output_elements = output;
  op.kernels_forward = 1;
  op.kernels_backward = 1;
  return add(std::move(op));
}

Activation ModelWriter::batch_norm(const std::string& name, Activation& input, std::int64_t channels) {
  const double n = input.elements;
  // Statistics read everything once before the normalising pass does; backward likewise over two tensors.
  Operator& op = pass(name, OperatorKind::normalization, 2 * n, n, 5 * n, n);
  op.parameters = {{name + ".weight", {channels}}, {name + ".bias", {channels}}};
  op.saved_elements = keep(input);
  return {n, false};
}

Activation ModelWriter::frozen_batch_norm(const std::string& name, const Activation& input, std::int64_t channels) {
  const double n = input.elements;
  // A product and a sum over the tensor; five kernels make the factor and the addend of each channel. Back: the
  // product.
  Operator& op = pass(name, OperatorKind::normalization, 2 * n, 2 * n, 2 * n, n);
  op.frozen_parameters = {{name + ".weight", {channels}}, {name + ".bias", {channels}}};
  op.kernels_forward = 7;
  return {n, false};
}

Activation ModelWriter::group_norm(const std::string& name, Activation& input, std::int64_t channels) {
  const Activation output = batch_norm(name, input, channels);  // a group is too large for a chip's memory as well
  last_operator().kernels_forward = 3;                          // moments, factors of each channel, the tensor
  last_operator().kernels_backward = 5;                         // sums, their factors twice, the tensor, the parameters
  return output;
}

Activation ModelWriter::layer_norm(const std::string& name, Activation& input, std::int64_t features, bool bias) {
  const double n = input.elements;
  // A row stays on the chip, so forward reads once. Backward: the input's gradient (two reads, a write)
  // and the weights' (two reads).
  Operator& op = pass(name, OperatorKind::normalization, n, n, 5 * n, n);
  op.parameters.push_back({name + ".weight", {features}});
  if (bias) add_bias(op, features);
  op.saved_elements = keep(input);
  op.kernels_backward = 2;
  return {n, false};
}

Activation ModelWriter::relu(const std::string& name, const Activation& input) {
  const double n = input.elements;
  pass(name, OperatorKind::elementwise, n, n, 3 * n, n).saved_elements = n;
  return {n, true};
}

Activation ModelWriter::tanh(const std::string& name, const Activation& input) { return relu(name, input); }

Activation ModelWriter::gelu(const std::string& name, Activation& input) {
  const double n = input.elements;
  Operator& op = pass(name, OperatorKind::elementwise, n, n, 3 * n, n);
  op.saved_elements = keep(input);
  return {n, false};
}

Activation ModelWriter::prelu(const std::string& name, Activation& input, std::int64_t channels) {
  const double n = input.elements;
  // Back: two reads and a write for the input's gradient, a write and a read for the slopes'.
  Operator& op = pass(name, OperatorKind::elementwise, n, n, 5 * n, n);
  op.parameters.push_back({name + ".weight", {channels}});
  op.saved_elements = keep(input);
  op.kernels_backward = 2;
  return {n, false};
}

Image ModelWriter::scale_channels(const std::string& name, Image& image, Activation& scale) {
  const double n = image.data.elements;
  // Back: gradient times scale; gradient times image, summed over it.
  Operator& op = pass(name, OperatorKind::elementwise, n + scale.elements, n, 4 * n + 2 * scale.elements, n);
  op.saved_elements = keep(image.data) + keep(scale);
  op.kernels_backward = 2;
  return {image.channels, image.height, image.width, {n, false}};
}

Image ModelWriter::concatenate(const std::string& name, const std::vector<Image>& images) {
  Image output{0, images.front().height, images.front().width, {}};
  for (const Image& image : images) {
    output.channels += image.channels;
    output.data.elements += image.data.elements;
  }
  const double n = output.data.elements;
  pass(name, OperatorKind::elementwise, n, n, 2 * n, n);
  return output;
}

Activation ModelWriter::swiglu(const std::string& name, Activation& gate, Activation& up) {
  const double n = gate.elements;
  // SiLU(gate) and its product with `up`; back two products and SiLU's own gradient, of three tensors each.
  Operator& op = pass(name, OperatorKind::elementwise, 3 * n, 2 * n, 9 * n, n);
  op.saved_elements = keep(gate) + keep(up) + n;
  op.kernels_forward = 2;
  op.kernels_backward = 3;
  return {n, false};
}

Activation ModelWriter::dropout(const std::string& name, const Activation& input) {
  const double n = input.elements;
  const double mask = mask_elements * n;
  pass(name, OperatorKind::elementwise, n, n + mask, 2 * n + mask, n).saved_elements = mask;
  return {n, false};
}

Activation ModelWriter::residual(const std::string& name, const Activation& branch) {
  const double n = branch.elements;
  pass(name, OperatorKind::elementwise, 2 * n, n, 3 * n, n);
  return {n, false};
}

Image ModelWriter::max_pool(const std::string& name, Image& input, const Window& window) {
  Image output{input.channels,
               window_output(input.height, window.kernel_height, window.stride_height, window.padding_height),
               window_output(input.width, window.kernel_width, window.stride_width, window.padding_width),
               {}};
  const double in = input.data.elements;
  const double out = real(model_.micro_batch) * real(output.channels) * real(output.height) * real(output.width);
  const double indices = index_elements * out;
  Operator& op = pass(name, OperatorKind::pooling, in, out + indices, in + out + indices, out);
  op.saved_elements = keep(input.data) + indices;
  output.data.elements = out;
  return output;
}

Image ModelWriter::upsample(const std::string& name, const Image& input, std::int64_t height, std::int64_t width) {
  const double in = input.data.elements;
  const double out = real(model_.micro_batch) * real(input.channels) * real(height) * real(width);
  pass(name, OperatorKind::elementwise, in, out, in + out, out);
  return {input.channels, height, width, {out, false}};
}

Image ModelWriter::average_pool(const std::string& name, const Image& input, std::int64_t height, std::int64_t width) {
  const double in = input.data.elements;
  const double out = real(model_.micro_batch) * real(input.channels) * real(height) * real(width);
  pass(name, OperatorKind::pooling, in, out, in + out, out);
  return {input.channels, height, width, {out, false}};
}

Activation ModelWriter::embedding(const std::string& name, std::int64_t rows, std::int64_t table, std::int64_t features,
                                  bool tied) {
  const double n = real(rows) * real(features);
  const double weights = real(table) * real(features);
  // The gradient is dense: zeros over the table, then rows are added; a tied one is added to the other's.
  const double backward = weights + 3 * n + (tied ? 3 * weights : 0);
  Operator& op = pass(name, OperatorKind::embedding, n, n, backward, n);
  op.parameters.push_back({name + ".weight", {table, features}});
  op.needs_input_gradient = false;
  op.kernels_backward = tied ? 3 : 2;
  return {n, false};
}

Activation ModelWriter::copy(const std::string& name, const Activation& input) {
  const double n = input.elements;
  pass(name, OperatorKind::elementwise, n, n, 2 * n, n);
  return {n, false};
}

Activation ModelWriter::log_softmax(const std::string& name, const Activation& logits) {
  const double n = logits.elements;
  pass(name, OperatorKind::softmax, n, n, 3 * n, n).saved_elements = n;
  return {n, true};
}

void ModelWriter::cross_entropy(const std::string& name, const Activation& logits, std::int64_t rows) {
  const Activation probabilities = log_softmax(name + ".log_softmax", logits);
  const double n = probabilities.elements;
  Operator& loss = pass(name, OperatorKind::loss, real(rows), real(rows), n + real(rows), 1);
  loss.saved_elements = n;    // the logits, which live on as the model's output until the step ends
  loss.kernels_forward = 2;   // the picked terms and their mean
  loss.kernels_backward = 2;  // zeros, then the picked entries
}

}  // namespace foretrain::models
