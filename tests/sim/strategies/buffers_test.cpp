#include "sim/strategies/buffers.h"

#include "sim/memory.h"
#include "sim/strategies/compression.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double elements = 4 * 2048.0 * 2048.0;

double buffers(Step& step, int ranks) { return sharing_buffers(step.model, step.scenario, step.stack, ranks).value; }

TEST_CASE("buckets hold all gradients once more, unless gradients lie in them") {
  Step step;
  CHECK(buffers(step, 8) == 4 * elements);
  CHECK(buffers(step, 1) == 0);
  step.set("gradient_as_bucket_view", 1);
  CHECK(buffers(step, 8) == 0);
}

TEST_CASE("Horovod holds its fusion buffer, local SGD one copy of the parameters") {
  Step step;
  step.scenario.stack.reducer = "horovod";
  step.set("bucket_bytes", 64e6);
  CHECK(buffers(step, 8) == 64e6);
  step.scenario.stack.reducer = "local_sgd";
  CHECK(buffers(step, 8) == 4 * elements);
}

TEST_CASE("sharded state has the largest bucket, and units of sharded parameters none") {
  Step step;
  step.set("first_bucket_bytes", 1);  // one tensor of 2048², then two
  step.set("bucket_bytes", 2 * 4 * 2048.0 * 2048.0);
  for (const char* sharding : {"zero1", "zero2"}) {
    step.scenario.plan.sharding = sharding;
    step.set("gradient_as_bucket_view", 0);
    CHECK(buffers(step, 8) == 2 * 4 * 2048.0 * 2048.0);
    step.set("gradient_as_bucket_view", 1);
    CHECK(buffers(step, 8) == 0);
  }
  step.set("gradient_as_bucket_view", 0);
  for (const char* sharding : {"zero3", "hsdp"}) {
    step.scenario.plan.sharding = sharding;
    CHECK(buffers(step, 8) == 0);
  }
}

TEST_CASE("what compression keeps") {
  Step step;
  step.set("gradient_as_bucket_view", 1);
  const auto with = [&](const char* compression, int ranks) {
    step.scenario.stack.compression = compression;
    return buffers(step, ranks);
  };
  CHECK(with("fp16", 8) == 2 * elements);
  step.set("powersgd_rank", 2);
  CHECK(with("powersgd", 8) == 4 * (elements + 4 * (2048 + 2048) * 2));  // errors, P and Q
  step.set("top_k_fraction", 0.25);
  CHECK(with("top_k", 8) == 4 * elements + 8 * 0.25 * elements * (4 + 4));
  CHECK(with("onebit_adam", 8) == Approx(4 * elements * (1 + 1.0 / 8) + 2 * elements / 8).epsilon(1e-12));
}

TEST_CASE("the timeline's peak is the closed form for every way of sharing gradients by collectives") {
  for (const std::string reducer : {"ddp", "horovod", "mirrored", "multi_worker_mirrored", "local_sgd"}) {
    for (const std::string& compression : compression_names()) {
      if (reducer == "local_sgd" && compression != "none") continue;
      CAPTURE(reducer, compression);
      Step step(8);
      step.scenario.stack.reducer = reducer;
      step.scenario.stack.compression = compression;
      const Timeline timeline = step.replayed();
      const MemoryParts parts = step.composed().memory.of_fullest();
      CHECK(timeline.peak_bytes.at(0) == Approx(parts.total().value).epsilon(1e-9));
    }
  }
}

TEST_CASE("operators that run forward only keep nothing past the next backward, in both forms") {
  Step step;
  models::Operator& frozen = step.model.layers[0].operators[0];
  frozen.forward_only = true;
  frozen.needs_input_gradient = false;
  frozen.saved_elements = 0;
  frozen.parameters.swap(frozen.frozen_parameters);
  step.model.layers[2].operators[0].forward_only = true;  // a step in between that no gradient crosses
  const Timeline timeline = step.replayed();
  const MemoryParts parts = step.composed().memory.of_fullest();
  CHECK(timeline.peak_bytes.at(0) == Approx(parts.total().value).epsilon(1e-9));
  CHECK(count(step.program, StreamKind::compute, "dense0 backward") == 0);
  CHECK(parts.gradients.value == 4 * 3 * 2048.0 * 2048.0);
  CHECK(parts.parameters.value == 4 * 4 * 2048.0 * 2048.0);
}

}  // namespace
}  // namespace foretrain::sim::strategies
