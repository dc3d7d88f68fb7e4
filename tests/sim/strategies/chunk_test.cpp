#include "sim/strategies/chunk.h"

#include <cmath>
#include <set>

#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

// A step of GPT-2 (12 blocks) on one node of eight A100.
Step gpt2(std::int64_t tensor, int gpus, const std::string& recompute = "none") {
  Step step(gpus);
  step.scenario = studies::scenario("gpt2", "Standard_ND96amsr_A100_v4", gpus, 4, models::Precision::fp16);
  step.scenario.model.overrides["heads"] = 16;
  step.scenario.plan.tensor = tensor;
  step.scenario.plan.recompute = recompute;
  step.model = build_workload(step.scenario, 4, studies::catalogue().data());
  return step;
}

double allocated(const Program& program) {
  double bytes = 0;
  for (const Activity& activity : program.activities) bytes += activity.allocates_bytes - activity.frees_bytes;
  return bytes;
}

TEST_CASE("whatever a step allocates it frees") {
  for (const char* recompute : {"none", "selective", "full"}) {
    for (const std::int64_t tensor : {1, 2}) {
      Step step = gpt2(tensor, 2, recompute);
      const Composed composed = step.composed();
      CHECK(allocated(composed.programs.front()) == Approx(0).margin(1));
    }
  }
}

TEST_CASE("full recompute runs every block's forward pass twice, with its collectives") {
  Step step = gpt2(2, 2, "full");
  const Program program = step.composed().programs.front();
  double forward = 0, again = 0;
  int sums = 0;
  for (const Activity& activity : program.activities) {
    const double seconds = activity.duration.time.value;
    if (activity.is_collective && program.communicators[activity.communicator] == "tensor") ++sums;
    if (program.streams[activity.stream].kind != StreamKind::compute) continue;
    if (activity.category == Category::forward) forward += seconds;
    if (activity.category == Category::recompute) again += seconds;
  }
  // Everything but embedding and head.
  CHECK(again < forward);
  CHECK(again > 0.6 * forward);
  Step kept = gpt2(2, 2);
  int sums_kept = 0;
  const Program without = kept.composed().programs.front();
  for (const Activity& activity : without.activities) {
    sums_kept += activity.is_collective && without.communicators[activity.communicator] == "tensor";
  }
  CHECK(sums - sums_kept == 12 * 2);  // two all-reduces in the forward pass of each of the 12 blocks
}

TEST_CASE("many micro-batches as one aggregate take what they take written out") {
  for (const std::int64_t tensor : {1, 2, 8}) {
    const auto step_seconds = [&](std::int64_t explicit_micro_batches) {
      Step step = gpt2(tensor, 8);
      step.scenario.training.micro_batch = 16;
      step.scenario.training.global_batch = 16 * (8 / tensor) * 12;
      step.model = build_workload(step.scenario, 16, studies::catalogue().data());
      step.explicit_micro_batches = explicit_micro_batches;
      return step.replayed().step_seconds;
    };
    CAPTURE(tensor);
    CHECK(step_seconds(4) == Approx(step_seconds(100)).epsilon(0.01));
  }
}

TEST_CASE("tensor parallelism divides the work and pays for its collectives") {
  const auto compute = [](Step& step) {
    static_cast<void>(step.replayed());
    return step.sum_of(StreamKind::compute);
  };
  Step one = gpt2(1, 1), eight = gpt2(8, 8);
  one.set("distributed_compute_slowdown", 0);
  CHECK(compute(eight) < compute(one));
  CHECK(compute(eight) > compute(one) / 8);  // norms and residuals are done by every rank
}

TEST_CASE("half-precision weights need no casts, and fused sums no additions") {
  Step step = gpt2(1, 1);
  step.scenario.training.global_batch = 8;
  step.set("half_precision_weights", 1);
  step.set("fused_gradient_sum", 1);
  const Program program = step.composed().programs.front();
  for (const std::string& label : program.labels) {
    CHECK(label.find(" cast") == std::string::npos);
    CHECK(label.find("gradient sum") == std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
