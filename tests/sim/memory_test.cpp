#include "sim/memory.h"

#include "base/error.h"
#include "sim/studies/run.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim {
namespace {

using studies::catalogue;

TEST_CASE("the timeline's peak is the closed form") {
  const std::string model = GENERATE("resnet50", "vgg16", "bert-base", "gpt2", "vit-b-16", "crnn-handwriting");
  const int gpus = GENERATE(1, 4);
  const models::Precision precision = GENERATE(models::Precision::fp32, models::Precision::fp16);
  ParameterTable parameters;
  const studies::Run run(studies::scenario(model, "p3.16xlarge", gpus, 4, precision), catalogue(), {}, {}, parameters);
  CHECK(run.replay().peak_bytes.at(0) == Approx(run.memory().total().value).epsilon(1e-3));
}

TEST_CASE("accumulation does not hold more") {
  Scenario scenario = studies::scenario("resnet50", "p3.16xlarge", 1, 16, models::Precision::fp32);
  scenario.training.global_batch = 16 * 12;
  ParameterTable parameters;
  const studies::Run run(scenario, catalogue(), {}, {}, parameters);
  CHECK(run.replay().peak_bytes.at(0) == Approx(run.memory().total().value).epsilon(1e-3));
}

TEST_CASE("parameters, gradients and adam's state of fp32 training take 16 bytes per parameter") {
  const Scenario scenario = studies::scenario("resnet50", "p3.16xlarge", 1, 1, models::Precision::fp32);
  ParameterTable parameters;
  const studies::Run run(scenario, catalogue(), {}, {}, parameters);
  const MemoryParts parts = run.memory();
  const double count = models::parameter_count(run.model());
  CHECK((parts.parameters + parts.gradients + parts.optimizer).value == Approx(16 * count).epsilon(1e-12));
  CHECK(parts.buckets.value == 0);
}

TEST_CASE("optimizer state by name") {
  CHECK(optimizer_state_bytes("sgd") == 4);
  CHECK(optimizer_state_bytes("adamw") == 8);
  CHECK_THROWS_AS(optimizer_state_bytes("adagrad"), Error);
}

// A decoder of 8 layers on 8 GPUs of a node, 8 micro-batches of 2 on each data-parallel rank.
Scenario decoder(const char* stack) {
  Scenario scenario = studies::scenario("gpt2", "Standard_ND96amsr_A100_v4", 8, 2, models::Precision::bf16);
  scenario.model.overrides = {{"layers", 8}, {"hidden", 512}, {"heads", 8}, {"feed_forward", 2048},
                              {"vocabulary", 1024}, {"sequence", 256}, {"positions", 256}};
  scenario.stack.name = stack;
  return scenario;
}

void check_every_stage(Scenario scenario) {
  const Plan& plan = scenario.plan;
  scenario.training.global_batch = 2 * 8 * (8 / (plan.tensor * plan.pipeline));
  ParameterTable parameters;
  const studies::Run run(scenario, catalogue(), {}, {}, parameters);
  const Timeline timeline = run.replay();
  const std::vector<MemoryParts>& stages = run.composed().memory.stages;
  REQUIRE(timeline.peak_bytes.size() == stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    CAPTURE(s);
    CHECK(timeline.peak_bytes[s] == Approx(stages[s].total().value).epsilon(1e-9));
  }
}

TEST_CASE("the timeline's peak is the closed form for recompute, tensor and sequence parallelism") {
  Scenario scenario = decoder("megatron");
  scenario.plan.recompute = GENERATE("none", "selective", "full");
  scenario.plan.tensor = GENERATE(1, 4);
  scenario.plan.sequence_parallel = scenario.plan.tensor > 1;
  CAPTURE(scenario.plan.recompute, scenario.plan.tensor);
  check_every_stage(scenario);
}

TEST_CASE("the timeline's peak is the closed form for state in shards") {
  Scenario scenario = decoder("deepspeed");
  scenario.plan.sharding = GENERATE("zero1", "zero2", "zero3", "hsdp");
  CAPTURE(scenario.plan.sharding);
  if (scenario.plan.sharding == "hsdp") scenario.plan.shard_group = 4;
  check_every_stage(scenario);
}

TEST_CASE("the timeline's peak is the closed form on every stage of a pipeline") {
  Scenario scenario = decoder("megatron");
  scenario.plan.pipeline = 4;
  scenario.plan.schedule = GENERATE("none", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v");
  scenario.plan.recompute = GENERATE("none", "full");
  const bool two_chunks = scenario.plan.schedule == "interleaved" || scenario.plan.schedule == "zb-v";
  scenario.plan.interleave = two_chunks ? 2 : 1;
  CAPTURE(scenario.plan.schedule, scenario.plan.recompute);
  check_every_stage(scenario);
}

}  // namespace
}  // namespace foretrain::sim
