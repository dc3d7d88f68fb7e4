#include "models/operator_shapes.h"

#include <fmt/format.h>

#include "models/model_writer.h"

namespace foretrain::models {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 31;
constexpr std::int64_t most_heads = 1 << 16;

double real(std::int64_t count) { return static_cast<double>(count); }

std::int64_t extent(const JsonView& view, const std::string& key) { return view.at(key).integer(1, largest_extent); }

void read_gemm(const JsonView& view, std::int64_t batch, Operator& op) {
  const bool batched = view.find("products_per_sample").has_value();
  if (batched == view.find("m_per_sample").has_value()) {
    view.fail("a gemm has either \"m_per_sample\" or \"products_per_sample\"",
              "m_per_sample: rows that share one weight; products_per_sample: separate products m×k by k×n");
  }
  GemmShape shape;
  shape.n = extent(view, "n");
  shape.k = extent(view, "k");
  if (batched) {
    shape.batch = batch * extent(view, "products_per_sample");
    shape.m = extent(view, "m");
  } else {
    if (const auto m = view.find("m")) m->fail("\"m\" goes with \"products_per_sample\" only");
    shape.m = batch * extent(view, "m_per_sample");
  }
  op.shape = shape;
  op.saved_elements = real(shape.batch) * real(shape.k) * (real(shape.m) + (batched ? real(shape.n) : 0));
  op.output_elements = real(shape.batch) * real(shape.m) * real(shape.n);
}

void read_convolution(const JsonView& view, std::int64_t batch, Operator& op) {
  constexpr std::int64_t largest_stride = 4096;
  ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = extent(view, "in_channels");
  shape.height = extent(view, "height");
  shape.width = extent(view, "width");
  shape.out_channels = extent(view, "out_channels");
  shape.kernel_height = extent(view, "kernel_height");
  shape.kernel_width = extent(view, "kernel_width");
  shape.stride_height = integer_or(view, "stride_height", 1, largest_stride, 1);
  shape.stride_width = integer_or(view, "stride_width", 1, largest_stride, 1);
  shape.groups = integer_or(view, "groups", 1, largest_extent, 1);
  const std::int64_t padding_height = integer_or(view, "padding_height", 0, largest_stride, 0);
  const std::int64_t padding_width = integer_or(view, "padding_width", 0, largest_stride, 0);
  shape.out_height = window_output(shape.height, shape.kernel_height, shape.stride_height, padding_height);
  shape.out_width = window_output(shape.width, shape.kernel_width, shape.stride_width, padding_width);
  if (shape.out_height < 1 || shape.out_width < 1) {
    view.fail("the kernel is larger than the padded image", "make the image or the padding larger");
  }
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    view.at("groups").fail(fmt::format("{} input and {} output channels do not divide into {} groups",
                                       shape.in_channels, shape.out_channels, shape.groups));
  }
  op.shape = shape;
  op.saved_elements = real(batch) * real(shape.in_channels) * real(shape.height) * real(shape.width);
  op.output_elements = real(batch) * real(shape.out_channels) * real(shape.out_height) * real(shape.out_width);
}

void read_attention(const JsonView& view, std::int64_t batch, Operator& op) {
  AttentionShape shape;
  shape.batch = batch;
  shape.heads = view.at("heads").integer(1, most_heads);
  shape.query_length = view.at("query_length").integer(1, longest_listed_sequence);
  shape.key_length = integer_or(view, "key_length", 1, longest_listed_sequence, shape.query_length);
  shape.head_dimension = view.at("head_dimension").integer(1, most_heads);
  shape.key_value_heads = integer_or(view, "key_value_heads", 1, most_heads, shape.heads);
  if (shape.heads % shape.key_value_heads != 0) {
    view.at("key_value_heads")
        .fail(fmt::format("{} heads do not divide into {} key-value heads", shape.heads, shape.key_value_heads));
  }
  shape.causal = boolean_or(view, "causal", false);
  shape.dropout = boolean_or(view, "dropout", false);
  op.shape = shape;
  op.output_elements = real(batch) * real(shape.heads) * real(shape.query_length) * real(shape.head_dimension);
  op.saved_elements = forward_elements(op);  // query, key, value and the output
  op.kernels_forward = unfused_kernels_forward(shape);
  op.kernels_backward = unfused_kernels_backward(shape);
}

void read_recurrent(const JsonView& view, std::int64_t batch, Operator& op) {
  constexpr std::int64_t widest = 1 << 20;
  RecurrentShape shape;
  shape.batch = batch;
  shape.steps = view.at("steps").integer(1, longest_listed_sequence);
  shape.input = view.at("input").integer(1, widest);
  shape.hidden = view.at("hidden").integer(1, widest);
  shape.directions = integer_or(view, "directions", 1, 2, 1);
  shape.gates = integer_or(view, "gates", 1, 8, 4);
  op.shape = shape;
  const double rows = real(batch) * real(shape.steps);
  op.output_elements = rows * real(shape.directions) * real(shape.hidden);
  // Input, hidden states, and per state the gates and (LSTM) the cell and its tanh.
  op.saved_elements = rows * real(shape.input) + op.output_elements * (real(shape.gates) + 3);
  op.kernels_forward = 2 * real(shape.directions);
  op.kernels_backward = 3 * real(shape.directions);
}

void read_pass(const JsonView& view, std::int64_t batch, Operator& op) {
  MemoryShape shape;
  shape.elements_read = real(batch) * view.at("elements_read_per_sample").number({0, most_listed_elements});
  shape.elements_written = real(batch) * view.at("elements_written_per_sample").number({0, most_listed_elements});
  if (const auto backward = view.find("backward_elements_per_sample")) {
    shape.backward_elements = real(batch) * backward->number({0, most_listed_elements});
  }
  op.shape = shape;
  op.saved_elements = op.output_elements = shape.elements_written;
  op.kernels_forward = op.kernels_backward = 1;
}

}  // namespace

const ShapeReader& shape_reader(OperatorKind kind) {
  static const ShapeReader gemm{read_gemm, {"m_per_sample", "products_per_sample", "m", "n", "k"}};
  static const ShapeReader convolution{
      read_convolution,
      {"in_channels", "height", "width", "out_channels", "kernel_height", "kernel_width", "stride_height",
       "stride_width", "padding_height", "padding_width", "groups"}};
  static const ShapeReader attention{
      read_attention,
      {"heads", "query_length", "key_length", "head_dimension", "key_value_heads", "causal", "dropout"}};
  static const ShapeReader recurrent{read_recurrent, {"steps", "input", "hidden", "directions", "gates"}};
  static const ShapeReader pass{
      read_pass, {"elements_read_per_sample", "elements_written_per_sample", "backward_elements_per_sample"}};
  switch (kind) {
    case OperatorKind::gemm: return gemm;
    case OperatorKind::convolution: return convolution;
    case OperatorKind::attention: return attention;
    case OperatorKind::recurrent: return recurrent;
    default: return pass;
  }
}

std::int64_t integer_or(const JsonView& view, const std::string& key, std::int64_t low, std::int64_t high,
                        std::int64_t otherwise) {
  const auto member = view.find(key);
  return member ? member->integer(low, high) : otherwise;
}

double number_or(const JsonView& view, const std::string& key, double high, double otherwise) {
  const auto member = view.find(key);
  return member ? member->number({0, high}) : otherwise;
}

bool boolean_or(const JsonView& view, const std::string& key, bool otherwise) {
  const auto member = view.find(key);
  return member ? member->boolean() : otherwise;
}

}  // namespace foretrain::models
