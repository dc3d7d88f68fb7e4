#include "models/operator.h"
#include "models/precision.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::models;

namespace {

Operator with_shape(const Shape& shape) {
  Operator op;
  op.name = "op";
  op.shape = shape;
  return op;
}

}  // namespace

TEST_CASE("FLOPs and elements of a matrix product") {
  const Operator op = with_shape(GemmShape{2, 3, 5, 7});
  CHECK(forward_flops(op).value == 2. * 2 * 3 * 5 * 7);
  CHECK(backward_flops(op).value == 2 * 2. * 2 * 3 * 5 * 7);
  CHECK(forward_elements(op) == 2. * (3 * 7 + 7 * 5 + 3 * 5));
  CHECK(backward_elements(op) == 2 * forward_elements(op));
}

TEST_CASE("the first operator has no gradient by its input, a bias has one more read") {
  Operator op = with_shape(GemmShape{1, 3, 5, 7});
  op.needs_input_gradient = false;
  op.parameters = {{"op.weight", {5, 7}}, {"op.bias", {5}}};
  op.output_elements = 15;
  CHECK(backward_flops(op).value == forward_flops(op).value);
  CHECK(backward_elements(op) == forward_elements(op) + 15);
  CHECK(parameter_count(op) == 35 + 5);
}

TEST_CASE("FLOPs of a grouped, strided convolution") {
  ConvolutionShape shape;
  shape.batch = 2;
  shape.in_channels = 8;
  shape.height = shape.width = 10;
  shape.out_channels = 12;
  shape.kernel_height = 3;
  shape.kernel_width = 5;
  shape.out_height = 4;
  shape.out_width = 6;
  shape.groups = 4;
  // Each of 2·12·4·6 outputs sums 8/4 channels of 3×5.
  CHECK(forward_flops(with_shape(shape)).value == 2. * (2 * 12 * 4 * 6) * (2 * 3 * 5));
  CHECK(forward_elements(with_shape(shape)) == 2. * 8 * 10 * 10 + 12. * 2 * 3 * 5 + 2. * 12 * 4 * 6);
}

TEST_CASE("attention counts every score, causal or not, and moves its tensors but not the scores") {
  AttentionShape shape{2, 4, 10, 20, 8, false, 0, false};
  CHECK(score_elements(shape) == 2. * 4 * 10 * 20);
  CHECK(forward_flops(with_shape(shape)).value == 2 * 2. * (2 * 4 * 10 * 20) * 8);
  CHECK(forward_elements(with_shape(shape)) == 2. * 8 * (4 * 10 + 4 * 20 + 4 * 20 + 4 * 10));
  CHECK(unfused_saved_elements(shape) == 1600);
  CHECK(unfused_kernels_forward(shape) == 4);
  CHECK(unfused_kernels_backward(shape) == 6);
  shape.causal = shape.dropout = true;
  CHECK(forward_flops(with_shape(shape)).value == 2 * 2. * 1600 * 8);
  CHECK(unfused_saved_elements(shape) == 2.5 * 1600);
  CHECK(unfused_kernels_forward(shape) == 6);
  shape.key_value_heads = 1;  // keys and values of one head for all four
  CHECK(forward_elements(with_shape(shape)) == 2. * 8 * (4 * 10 + 20 + 20 + 4 * 10));
}

TEST_CASE("a recurrent layer without input gradient still has that of the step before") {
  Operator op = with_shape(RecurrentShape{2, 10, 6, 4, 2, 3});
  // 2·10 rows, two directions, three gates of 4, over 6 inputs and 4 states.
  CHECK(forward_flops(op).value == 2. * 20 * 2 * 3 * 4 * (6 + 4));
  CHECK(backward_flops(op).value == 2 * forward_flops(op).value);
  op.needs_input_gradient = false;
  CHECK(backward_flops(op).value == Approx(2. * 20 * 2 * 3 * 4 * (6 + 2 * 4)).epsilon(1e-12));
}

TEST_CASE("a pass over memory has no FLOPs and, unless it says otherwise, twice the elements on the way back") {
  Operator op = with_shape(MemoryShape{100, 50, {}});
  CHECK(forward_flops(op).value == 0);
  CHECK(backward_flops(op).value == 0);
  CHECK(forward_elements(op) == 150);
  CHECK(backward_elements(op) == 300);
  op.shape = MemoryShape{100, 50, 210};
  CHECK(backward_elements(op) == 210);
}

TEST_CASE("kinds and precisions have names that lead back to them") {
  CHECK(operator_kind_names().size() == 10);
  CHECK(std::string(to_string(OperatorKind::gemm)) == "gemm");
  CHECK(std::string(to_string(OperatorKind::loss)) == "loss");
  for (const std::string& name : precision_names()) CHECK(to_string(precision_from(name)) == name);
  CHECK(activation_bytes(Precision::tf32) == 4);
  CHECK(activation_bytes(Precision::fp32) == 4);
  CHECK(activation_bytes(Precision::bf16) == 2);
  CHECK(activation_bytes(Precision::fp8) == 2);
  CHECK_FALSE(is_mixed(Precision::tf32));
  CHECK(is_mixed(Precision::fp16));
}

TEST_CASE("what runs forward only has no backward pass, and frozen parameters are counted apart") {
  Operator product = with_shape(GemmShape{1, 3, 5, 7}), pass = with_shape(MemoryShape{10, 20, 40});
  product.frozen_parameters = {{"op.weight", {5, 7}}, {"op.bias", {5}}};
  product.output_elements = 15;
  product.forward_only = pass.forward_only = true;
  CHECK(forward_flops(product).value == 2. * 3 * 5 * 7);
  CHECK(backward_flops(product).value == 0);
  CHECK(backward_elements(product) == 0);
  CHECK(forward_elements(pass) == 30);
  CHECK(backward_elements(pass) == 0);
  CHECK(parameter_count(product) == 0);
  CHECK(frozen_parameter_count(product) == 40);
}
