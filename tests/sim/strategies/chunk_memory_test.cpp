#include "sim/strategies/chunk_memory.h"

#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {
namespace {

using models::Precision;

calibrate::Stack without_losses(const char* name = "pytorch-ddp") {
  calibrate::Stack stack = studies::catalogue().stack(name);
  stack.values.at("fragmentation_fraction").value = 0;
  return stack;
}

LocalOperator pass(double saved, double output) {
  LocalOperator local;
  local.op.shape = models::MemoryShape{output, output, {}};
  local.op.saved_elements = saved;
  local.op.output_elements = output;
  return local;
}

// Three passes that keep 10, 20 and 30 elements and put out 100, 200 and 300.
LocalModel three_passes() {
  LocalModel model;
  model.layers.push_back({"layer", true, {pass(10, 100), pass(20, 200), pass(30, 300)}, 300});
  model.layers.front().operators.front().op.needs_input_gradient = false;
  return model;
}

TEST_CASE("backward peaks where gradients of inputs and of outputs meet") {
  const auto operators = operator_bytes(three_passes(), Precision::fp32, without_losses());
  CHECK(kept_bytes(operators) == 4 * (10 + 20 + 30));
  // The third's backward makes 200; the second's 100 while those 200 are read, with the third's 30 freed: 270; the
  // first's makes none and reads 100.
  CHECK(backward_peak_bytes(operators) == 4 * (200 + 100 - 30));
  // Without freeing, 200 + 100.
  CHECK(input_gradient_peak_bytes(operators) == 4 * 300);
}

TEST_CASE("a recomputed segment keeps its share and brings the rest back before its last operator's backward") {
  LocalModel model = three_passes();
  model.segments = {{10}};
  for (LocalOperator& local : model.layers.front().operators) local.segment = 0;
  const auto operators = operator_bytes(model, Precision::fp32, without_losses());
  CHECK(kept_bytes(operators) == 4 * 10);
  CHECK(operators[1].recomputed == 4 * 20);
  CHECK(operators[2].recomputed == 4 * 30);
  CHECK(operators[2].ends_segment);
  CHECK_FALSE(operators[1].ends_segment);
  // 20 + 30 come back, then gradients as above.
  CHECK(backward_peak_bytes(operators) == 4 * (50 + 200 + 100 - 30));
}

TEST_CASE("segments come back one after the other") {
  LocalModel model = three_passes();
  model.layers.push_back(model.layers.front());
  model.layers.back().operators.front().op.needs_input_gradient = true;
  model.segments = {{10}, {10}};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (LocalOperator& local : model.layers[layer].operators) local.segment = layer;
  }
  const auto operators = operator_bytes(model, Precision::fp32, without_losses());
  CHECK(kept_bytes(operators) == 4 * 20);
  // Second layer: 50 + 200 + 100 − 30 = 320. Its first operator's: 50 − 30 − 20 held, 300 made, 100 read: 400, after
  // which its 10 are freed. First layer: 50 come back to −10, 300 are read and 200 made: 540.
  CHECK(backward_peak_bytes(operators) == 4 * (50 - 10 + 300 + 200));
}

TEST_CASE("what stands outside of segments is kept") {
  LocalModel model = three_passes();
  model.segments = {{5}};
  model.layers.front().operators[1].segment = 0;
  const auto operators = operator_bytes(model, Precision::fp32, without_losses());
  CHECK(kept_bytes(operators) == 4 * (10 + 5 + 30));
  CHECK(operators[1].recomputed == 4 * 15);
}

TEST_CASE("unfused attention keeps its scores, unless they are recomputed") {
  LocalModel model;
  LocalOperator core = pass(0, 0);
  models::AttentionShape shape;
  shape.batch = 1;
  shape.heads = 2;
  shape.query_length = shape.key_length = 8;
  shape.head_dimension = 4;
  core.op.kind = models::OperatorKind::attention;
  core.op.shape = shape;
  core.op.saved_elements = 3 * 64;
  model.layers.push_back({"attention", true, {core}, 0});
  const calibrate::Stack megatron = without_losses("megatron");
  // Query, key and value, and the softmax of 2 heads × 8 × 8 scores.
  CHECK(kept_bytes(operator_bytes(model, Precision::fp16, megatron)) == 2 * (3 * 64 + 2 * 64));
  model.segments = {{3 * 64}};
  model.layers.front().operators.front().segment = 0;
  const auto operators = operator_bytes(model, Precision::fp16, megatron);
  CHECK(kept_bytes(operators) == 2 * 3 * 64);
  CHECK(backward_peak_bytes(operators) == 2 * 2 * 64);
}

TEST_CASE("two-byte gradients that are added to four-byte ones live as long as their operator's backward") {
  LocalModel model = three_passes();
  model.layers.front().operators[2].op.parameters = {{"weight", {1000}}};
  // Made beside the 200 of the third's input: 2 bytes each.
  CHECK(backward_peak_bytes(operator_bytes(model, Precision::bf16, without_losses("megatron"))) == 2 * (1000 + 200));
  // Under autocast gradients are counted whole.
  CHECK(backward_peak_bytes(operator_bytes(model, Precision::bf16, without_losses())) == 2 * (200 + 100 - 30));
}

TEST_CASE("what the loss keeps counts as logits") {
  LocalModel model = three_passes();
  model.layers.front().operators[2].op.kind = models::OperatorKind::loss;
  const auto operators = operator_bytes(model, Precision::fp32, without_losses());
  CHECK(kept_logits(operators) == 4 * 30);
  CHECK(kept_bytes(operators) == 4 * 60);
}

TEST_CASE("what the allocator loses is part of it") {
  calibrate::Stack stack = without_losses();
  const double without = kept_bytes(operator_bytes(three_passes(), Precision::fp32, stack));
  stack.values.at("fragmentation_fraction").value = 0.25;
  CHECK(kept_bytes(operator_bytes(three_passes(), Precision::fp32, stack)) == 1.25 * without);
}

}  // namespace
}  // namespace foretrain::sim::strategies
