// How published batches are cut into micro-batches.
#include <algorithm>
#include <cstdint>

#include "scenarios/corpus/batch_plan.h"
#include "tests/catch.h"

using namespace foretrain::scenarios;

namespace {

// A GPU that holds `samples`, by an estimate that may be wrong by half.
GpuMemory holds(std::int64_t samples) {
  return {[samples](std::int64_t micro) { return 2 * micro <= 3 * samples; },
          [samples](std::int64_t up_to) { return std::min(samples, up_to); }};
}

void check(const StepBatch& step, std::int64_t gpus, std::int64_t micro, std::int64_t accumulation, double samples) {
  CHECK(step.gpus == gpus);
  CHECK(step.micro == micro);
  CHECK(step.accumulation == accumulation);
  CHECK(step.samples == samples);
}

}  // namespace

TEST_CASE("a batch per GPU stays what it is on every count") {
  const auto steps = plan_batches(BatchRule::per_gpu, 64, {1, 8}, holds(100));
  check(steps[0], 1, 64, 1, 64);
  check(steps[1], 8, 64, 1, 512);
}

TEST_CASE("a batch per GPU that cannot fit is accumulated in the fewest equal parts") {
  // 4096 samples where 100 fit: 41 parts would do, 64 of 64 are the next that divide.
  check(plan_batches(BatchRule::per_gpu, 4096, {1}, holds(100))[0], 1, 64, 64, 4096);
  // 211 is prime: three parts of 71 samples.
  check(plan_batches(BatchRule::per_gpu, 211, {1}, holds(100))[0], 1, 71, 3, 211);
  // 140 of 100 may have fitted.
  check(plan_batches(BatchRule::per_gpu, 140, {1}, holds(100))[0], 1, 140, 1, 140);
}

TEST_CASE("a global batch that fits on the smallest count is shared out") {
  const auto steps = plan_batches(BatchRule::global, 3264, {8, 64}, holds(500));
  check(steps[0], 8, 408, 1, 3264);
  check(steps[1], 64, 51, 1, 3264);
}

TEST_CASE("a global batch that does not fit is accumulated with one micro-batch on all counts") {
  // Shares of 65536, 8192 and 128: 100 fit, 64 divides all of them.
  const auto steps = plan_batches(BatchRule::global, 65536, {1, 8, 512}, holds(100));
  check(steps[0], 1, 64, 1024, 65536);
  check(steps[1], 8, 64, 128, 65536);
  check(steps[2], 512, 64, 2, 65536);
}

TEST_CASE("where not one sample fits there is no plan") {
  CHECK(plan_batches(BatchRule::per_gpu, 64, {1, 8}, holds(0)).empty());
}

TEST_CASE("GPUs beyond a global batch stand idle") {
  const auto steps = plan_batches(BatchRule::global, 56, {8, 72}, holds(100));
  check(steps[0], 8, 7, 1, 56);
  check(steps[1], 56, 1, 1, 56);
}

TEST_CASE("shares of a global batch that does not divide are rounded up, the samples are not") {
  const auto steps = plan_batches(BatchRule::global, 100, {8}, holds(100));
  check(steps[0], 8, 13, 1, 100);
  CHECK(steps[0].global() == 104);
}
