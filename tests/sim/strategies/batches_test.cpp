#include "sim/strategies/batches.h"

#include "base/error.h"
#include "tests/catch.h"

namespace foretrain::sim::strategies {
namespace {

Training training(std::int64_t micro, std::int64_t global) {
  Training result;
  result.micro_batch = micro;
  result.global_batch = global;
  return result;
}

std::string hint_of(const Training& which, std::int64_t gpus) {
  try {
    static_cast<void>(resolve_batches(which, {}, gpus));
  } catch (const Error& error) {
    CHECK(error.where() == "/training/global_batch");
    return error.hint();
  }
  return "";
}

TEST_CASE("accumulation follows from the batches") {
  const Batches batches = resolve_batches(training(16, 512), {}, 8);
  CHECK(batches.data_parallel == 8);
  CHECK(batches.accumulation == 4);  // 512 / (16 · 8)
  CHECK(batches.global == 512);
}

TEST_CASE("no global batch means one micro-batch per GPU") {
  const Batches batches = resolve_batches(training(64, 0), {}, 3);
  CHECK(batches.accumulation == 1);
  CHECK(batches.global == 192);
}

TEST_CASE("a global batch that does not divide names the nearest that do") {
  CHECK_THROWS_AS(resolve_batches(training(16, 500), {}, 8), Error);
  const std::string uneven = hint_of(training(16, 500), 8);  // unit 128: 384 and 512; 500 / 8 is no integer
  CHECK(uneven.find("384 and 512") != std::string::npos);
  const std::string divisible = hint_of(training(16, 400), 8);  // 50 per GPU: largest divisor up to 16 is 10
  CHECK(divisible.find("micro_batch to 10") != std::string::npos);
  const std::string small = hint_of(training(16, 4), 8);
  CHECK(small.find("smallest global batch is 128") != std::string::npos);
  CHECK(small.find("cannot keep 8 GPUs busy") != std::string::npos);
}

TEST_CASE("GPUs that model parallelism does not divide are refused") {
  Plan plan;
  plan.tensor = 3;
  CHECK_THROWS_AS(resolve_batches(training(1, 0), plan, 8), Error);
}

TEST_CASE("weak scaling keeps a GPU's work, strong scaling the global batch") {
  Training original = training(16, 512);  // 4 micro-batches on 8 GPUs
  const Batches batches = resolve_batches(original, {}, 8);
  original.scaling = Scaling::weak;
  CHECK(rescaled(original, batches, 2).global_batch == 16 * 4 * 2);
  original.scaling = Scaling::strong;
  CHECK(rescaled(original, batches, 2).global_batch == 512);
}

}  // namespace
}  // namespace foretrain::sim::strategies
