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

TEST_CASE("advice names the largest micro-batch that fits, or the category that does not") {
  Scenario scenario = studies::scenario("resnet50", "p3.16xlarge", 1, 4096, models::Precision::fp32);
  const calibrate::Stack stack = catalogue().stack("pytorch-ddp");
  ParameterTable parameters;
  const studies::Run run(scenario, catalogue(), {}, {}, parameters);
  const Bytes capacity = run.cluster().device->memory;
  REQUIRE(run.memory().total() > capacity);
  const std::string advice = memory_advice(run.memory(), capacity, scenario, stack, false, catalogue().data());
  const auto fitting = std::stoll(advice.substr(std::string("micro-batch ").size()));
  const auto total_at = [&](std::int64_t micro_batch) {
    Scenario smaller = scenario;
    smaller.training.micro_batch = micro_batch;
    ParameterTable others;
    return studies::Run(smaller, catalogue(), {}, {}, others).memory().total();
  };
  CHECK(total_at(fitting) <= capacity);
  CHECK(total_at(fitting + 1) > capacity);
  CHECK(memory_advice(run.memory(), mebibytes(100), scenario, stack, false, catalogue().data())
            .find("not even micro-batch 1") == 0);
}

}  // namespace
}  // namespace foretrain::sim
