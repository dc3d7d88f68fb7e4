// Plans of tensor, pipeline and sharded parallelism, predicted as a whole.
#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "sim/studies/predict.h"
#include "sim/studies/run.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

Scenario gpt(std::int64_t gpus, std::int64_t tensor, std::int64_t pipeline) {
  Scenario result = scenario("gpt2-medium", "Standard_ND96amsr_A100_v4", gpus, 2, models::Precision::fp16);
  result.stack.name = "megatron";
  result.plan.tensor = tensor;
  result.plan.pipeline = pipeline;
  result.plan.sharding = "none";
  result.training.global_batch = 2 * 8 * gpus / (tensor * pipeline);
  return result;
}

double step_seconds(const Scenario& asked, bool fold = true) {
  ParameterTable parameters;
  const Run run(asked, catalogue(), {}, {fold, false}, parameters);
  return run.replay().step_seconds;
}

TEST_CASE("the parts of a step of any plan add up to it") {
  for (const auto& [gpus, tensor, pipeline] :
       {std::tuple{8, 2, 1}, std::tuple{8, 1, 4}, std::tuple{16, 2, 4}, std::tuple{32, 8, 2}}) {
    const Prediction prediction = predict(gpt(gpus, tensor, pipeline), catalogue());
    double sum = 0;
    for (const auto& [name, part] : prediction.breakdown) sum += part.value;
    CHECK(sum == Approx(prediction.step_time.value).epsilon(1e-9));
    CHECK(prediction.step_time.low < prediction.step_time.value);
    CHECK(prediction.speedup.value < gpus);
  }
}

TEST_CASE("megatron reduces gradients after backward passes, ddp beside them") {
  Scenario asked = gpt(8, 1, 1);
  CHECK_FALSE(predict(asked, catalogue()).gradients.overlaps);
  CHECK_FALSE(predict(asked, catalogue()).gradients.has_parameters);
  asked.stack.name = "pytorch-ddp";
  CHECK(predict(asked, catalogue()).gradients.overlaps);
  asked.stack.name = "pytorch-fsdp";
  asked.plan.sharding = "zero3";
  CHECK(predict(asked, catalogue()).gradients.has_parameters);
}

TEST_CASE("tensor parallelism inside a node is faster than across nodes, where it collapses") {
  Scenario inside = gpt(16, 8, 1), across = gpt(16, 16, 1);
  across.training.global_batch = inside.training.global_batch;
  inside.plan.sequence_parallel = across.plan.sequence_parallel = false;
  CHECK(step_seconds(across) > 1.5 * step_seconds(inside));
}

TEST_CASE("layers pinned to workers are slower than one GPU and fit where it does not") {
  Scenario one = scenario("gpt2-medium", "Standard_ND96amsr_A100_v4", 1, 8, models::Precision::fp16);
  Scenario pinned = one;
  pinned.cluster.gpus = 4;
  pinned.plan.pipeline = 4;
  pinned.plan.schedule = "none";
  const Prediction alone = predict(one, catalogue()), spread = predict(pinned, catalogue());
  CHECK(spread.step_time.value > alone.step_time.value * 0.9);  // the update is shared out, transfers come on top
  CHECK(spread.speedup.value < 1.2);
  CHECK(spread.memory.total.value < 0.6 * alone.memory.total.value);
}

TEST_CASE("the bubble of a pipeline is that of p-1 micro-batches, however many there are") {
  for (const std::int64_t micro_batches : {4, 8, 32}) {
    Scenario asked = gpt(4, 1, 4);
    asked.model.overrides["vocabulary"] = 128;  // a head as long as four blocks would make the last stage the longest
    asked.stack.options["scatter_gather_transfers"] = 0;
    for (const char* launch : {"host_seconds_per_launch_forward", "host_seconds_per_launch_backward"}) {
      asked.stack.options[launch] = 1e-6;  // the host's turn of a stage is no bubble
    }
    asked.training.global_batch = 2 * micro_batches;
    const Prediction prediction = predict(asked, catalogue());
    double bubble = 0, busy = 0;
    for (const auto& [name, part] : prediction.breakdown) {
      if (name == "pipeline_bubble") bubble += part.value;
      if (name == "forward" || name == "backward" || name == "launch") busy += part.value;
    }
    // Of m micro-batches' forward and backward passes, three wait: stages are not quite equal, and transfers come on top.
    CHECK(bubble == Approx(3 * busy / static_cast<double>(micro_batches)).epsilon(0.2));
  }
}

TEST_CASE("composed plans replay alike folded and rank by rank") {
  std::mt19937_64 random(7);
  const auto pick = [&](const std::vector<std::int64_t>& from) { return from[random() % from.size()]; };
  int tried = 0;
  while (tried < 200) {
    const std::int64_t tensor = pick({1, 2, 4, 8}), pipeline = pick({1, 2, 4}), data = pick({1, 2, 3, 4, 8});
    const std::int64_t gpus = tensor * pipeline * data;
    if (gpus > 64) continue;
    Scenario asked = scenario("gpt2", pick({0, 1}) ? "Standard_ND96amsr_A100_v4" : "Standard_NC96ads_A100_v4", gpus,
                              pick({1, 2}), models::Precision::fp16);
    asked.cluster.inter_node_gbits_per_s = 100;
    asked.cluster.network = "infiniband";
    asked.model.overrides["layers"] = 4;
    asked.model.overrides["heads"] = 16;
    asked.stack.name = pick({0, 1}) ? "megatron" : "megatron-core";
    asked.plan.tensor = tensor;
    asked.plan.pipeline = pipeline;
    asked.plan.sequence_parallel = tensor > 1 && pick({0, 1}) != 0;
    asked.plan.recompute = pick({0, 1}) ? "none" : "full";
    const char* const shardings[] = {"none", "zero1", "zero3"};
    asked.plan.sharding = shardings[static_cast<std::size_t>(pick({0, 1, 2}))];
    if (asked.plan.sharding == "zero3" && pipeline > 1) asked.plan.sharding = "zero1";
    const char* const schedules[] = {"1f1b", "gpipe", "none", "zb-h1"};
    asked.plan.schedule = schedules[static_cast<std::size_t>(pick({0, 1, 2, 3}))];
    asked.training.global_batch = asked.training.micro_batch * data * pick({1, 2, 4});
    CAPTURE(tensor, pipeline, data, asked.plan.sharding, asked.plan.schedule, asked.stack.name);
    CHECK(step_seconds(asked, true) == Approx(step_seconds(asked, false)).epsilon(1e-9));
    ++tried;
  }
}

TEST_CASE("plans that cannot be, or that say what has no meaning, are refused where they say it") {
  const auto refused_at = [](auto change) {
    Scenario asked = gpt(8, 1, 1);
    change(asked);
    try {
      static_cast<void>(predict(asked, catalogue()));
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      return error.where();
    }
    return std::string();
  };
  CHECK(refused_at([](Scenario& s) { s.plan.context = 2; }) == "/plan/context");
  CHECK(refused_at([](Scenario& s) { s.plan.tensor = 3; }) == "/cluster/gpus");
  CHECK(refused_at([](Scenario& s) { s.plan.interleave = 2; }) == "/plan/interleave");
  CHECK(refused_at([](Scenario& s) { s.plan.stage_layers = {24}; }) == "/plan/stage_layers");
  CHECK(refused_at([](Scenario& s) { s.plan.shard_group = 8; }) == "/plan/shard_group");
  CHECK(refused_at([](Scenario& s) {
          s.plan.pipeline = 8;
          s.training.global_batch = 2'000'000;
        }) == "/training/global_batch");
}

TEST_CASE("a measured step of a composed plan anchors it") {
  Scenario asked = gpt(16, 2, 4);
  const double catalogue_step = step_seconds(asked);
  asked.measured.push_back({"", 16, 2, 1.25 * catalogue_step});
  CHECK(predict(asked, catalogue()).step_time.value == Approx(1.25 * catalogue_step).epsilon(1e-3));
}

TEST_CASE("draws of a composed plan centre on its step") {
  PredictOptions options;
  options.replays = 50;
  const Scenario asked = gpt(16, 2, 4);
  const Prediction first_order = predict(asked, catalogue()), drawn = predict(asked, catalogue(), options);
  CHECK(drawn.step_time.value == first_order.step_time.value);
  const auto width = [](const Quantity& q) { return std::log(q.high / q.low); };
  CHECK(width(drawn.step_time) == Approx(width(first_order.step_time)).epsilon(0.35));
}

}  // namespace
}  // namespace foretrain::sim::studies
