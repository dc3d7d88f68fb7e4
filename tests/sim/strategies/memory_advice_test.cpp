#include "sim/strategies/memory_advice.h"

#include "sim/stack_choice.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {
namespace {

using models::Precision;
using studies::catalogue;

struct Asked {
  Scenario scenario;
  Asked(const std::string& model, const std::string& machine, std::int64_t gpus, std::int64_t micro_batch,
        Precision precision)
      : scenario(studies::scenario(model, machine, gpus, micro_batch, precision)) {}

  [[nodiscard]] Cluster cluster() const { return resolve_cluster(scenario.cluster, catalogue()); }
  [[nodiscard]] calibrate::Stack stack() const { return chosen_stack(scenario.stack, catalogue()); }
  [[nodiscard]] PlanMemory memory() const {
    const models::Model model = build_workload(scenario, scenario.training.micro_batch, catalogue().data());
    return plan_memory(model, scenario, stack(), cluster());
  }
  [[nodiscard]] bool fits() const { return memory().of_fullest().total() <= cluster().device->memory; }
  [[nodiscard]] std::string advice() const {
    return memory_advice(memory(), scenario, stack(), cluster(), catalogue().data());
  }
};

bool says(const std::string& advice, const std::string& words) { return advice.find(words) != std::string::npos; }

// The number that follows `words`.
std::int64_t number_after(const std::string& advice, const std::string& words) {
  REQUIRE(says(advice, words));
  return std::stoll(advice.substr(advice.find(words) + words.size()));
}

// A decoder of 4096 features; 16 bytes of state per parameter.
Asked large(const std::string& machine, std::int64_t gpus, int layers) {
  Asked asked("gpt2", machine, gpus, 1, Precision::bf16);
  asked.scenario.model.overrides = {{"layers", layers}, {"hidden", 4096}, {"heads", 32}, {"feed_forward", 16384}};
  asked.scenario.stack.name = "deepspeed";
  return asked;
}

TEST_CASE("activations too large: the largest micro-batch that keeps the global batch") {
  Asked asked("resnet50", "p3.16xlarge", 1, 4096, Precision::fp32);
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK(advice.rfind("Most of it is activations (", 0) == 0);
  CHECK(says(advice, "--set training.global_batch=4096"));
  const std::int64_t micro = number_after(advice, "--set training.micro_batch=");
  asked.scenario.training.micro_batch = micro;
  CHECK(asked.fits());
  asked.scenario.training.micro_batch = 2 * micro;  // the next larger divisor of 4096
  CHECK_FALSE(asked.fits());
}

TEST_CASE("a single sequence too long: its attention core is recomputed") {
  // Unfused, 25 heads keep 5 bytes of 8192² scores in each of 48 layers, 400 GB.
  Asked asked("gpt2-xl", "Standard_ND96amsr_A100_v4", 1, 1, Precision::bf16);
  asked.scenario.model.overrides = {{"positions", 8192}, {"sequence", 8192}};
  asked.scenario.stack.options = {{"fused_attention", 0}};
  REQUIRE_FALSE(asked.fits());
  CHECK(says(asked.advice(), "--set plan.recompute=selective"));
}

TEST_CASE("state too large on several GPUs: as much sharding as is needed and no more") {
  // 24 layers of 12·4096² parameters, about 5 billion, 16 bytes each, in 80 GB.
  Asked asked = large("Standard_ND96amsr_A100_v4", 8, 24);
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK(advice.rfind("Most of it is optimizer state (", 0) == 0);
  CHECK(says(advice, "--set plan.sharding=zero1"));
  asked.scenario.plan.sharding = "zero1";
  CHECK(asked.fits());
}

TEST_CASE("sharding that goes no further with a pipeline is not advised with one") {
  Asked asked = large("Standard_ND96amsr_A100_v4", 8, 96);
  asked.scenario.plan.pipeline = 2;
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK_FALSE(says(advice, "zero2"));
  CHECK_FALSE(says(advice, "zero3"));
  CHECK(says(advice, "on stage "));
}

TEST_CASE("one GPU that cannot hold the state: more of them") {
  Asked asked = large("Standard_ND96amsr_A100_v4", 1, 24);
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK(number_after(advice, "--set cluster.gpus=") > 1);
}

TEST_CASE("changes that are not enough alone are combined, without those that are not needed") {
  // About 20 billion parameters on 8 GPUs of 40 GB: even all state in shards leaves no room for activations of a long
  // sequence that are kept whole.
  Asked asked = large("Standard_ND96asr_v4", 8, 96);
  asked.scenario.model.overrides["positions"] = asked.scenario.model.overrides["sequence"] = 16384;
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK(says(advice, "--set plan."));
  CHECK_FALSE(says(advice, "micro_batch"));
}

TEST_CASE("what no number of GPUs helps is said to need larger ones") {
  Asked asked("resnet50", "p3.16xlarge", 1, 1, Precision::fp32);
  asked.scenario.stack.options = {{"framework_memory_bytes", 1e11}};
  REQUIRE_FALSE(asked.fits());
  const std::string advice = asked.advice();
  CHECK(advice.rfind("Most of it is the framework itself (", 0) == 0);
  CHECK(says(advice, "a GPU with more memory is needed"));
}

}  // namespace
}  // namespace foretrain::sim::strategies
