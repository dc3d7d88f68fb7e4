// Verdicts that the physics has to give, without a special case for any.
#include "sim/studies/decide.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

// `base` against the same on `gpus` GPUs.
Decision against(const Scenario& base, const std::vector<std::int64_t>& gpus) {
  Question question;
  question.base = base;
  for (const std::int64_t count : gpus) {
    Scenario option = base;
    option.cluster.gpus = count;
    question.options.push_back({std::to_string(count) + " GPUs", option});
  }
  return decide(question, catalogue());
}

bool mentions(const std::vector<std::string>& sentences, const std::string& text) {
  for (const std::string& sentence : sentences) {
    if (sentence.find(text) != std::string::npos) return true;
  }
  return false;
}

Scenario resnet_over_tcp(std::int64_t micro_batch) {
  Scenario base = scenario("resnet50", "p3.16xlarge", 8, micro_batch, Precision::fp16);
  base.training.optimizer = "sgd";
  base.cluster.network = "tcp";
  base.cluster.inter_node_gbits_per_s = 25;
  return base;
}

TEST_CASE("ResNet-50 on 2 × 8 V100 over 25 Gb/s TCP gains nothing at batch 64 per GPU") {
  const Decision decision = against(resnet_over_tcp(64), {16});
  CHECK(decision.answer == "No");
  CHECK(decision.alternatives[0].gain < 1.2);
  CHECK(mentions(decision.reasons, "longer than the backward pass"));
  CHECK(mentions(decision.reasons, "25.0 Gb/s tcp"));
}

TEST_CASE("at batch 256 per GPU it scales") {
  const Decision decision = against(resnet_over_tcp(256), {16});
  CHECK(decision.answer == "Yes");
  CHECK(decision.alternatives[0].gain > 1.6);
}

TEST_CASE("GPT-2 fine-tuning on two p3.16xlarge over TCP is slower than on one") {
  Scenario base = scenario("gpt2", "p3.16xlarge", 8, 4, Precision::fp16);
  base.training.optimizer = "adamw";
  const Decision decision = against(base, {16});
  CHECK(decision.answer == "No");
  CHECK(decision.alternatives[0].gain_interval.high < 1);
  CHECK(decision.verdict.find("slower") != std::string::npos);
}

TEST_CASE("ViT-B on 16 and 32 V100 scales over InfiniBand, over 10 Gb/s Ethernet it does not") {
  Scenario infiniband = scenario("vit-b-16", "Standard_NC24rs_v3", 4, 16, Precision::fp32);
  infiniband.training.optimizer = "adamw";
  const Decision scales = against(infiniband, {16, 32});
  CHECK(scales.answer == "Yes");
  CHECK(scales.alternatives[0].gain > 3.2);  // of 4
  CHECK(scales.alternatives[1].gain > 6.0);  // of 8
  CHECK(mentions(scales.reasons, "32 GPUs buys"));

  Scenario ethernet = infiniband;
  ethernet.cluster.machine = "Standard_NC24s_v3";
  ethernet.cluster.network = "tcp";
  ethernet.cluster.nics_per_node = 1;
  ethernet.cluster.inter_node_gbits_per_s = 10;
  const Decision does_not = against(ethernet, {16, 32});
  CHECK(does_not.answer == "No");
  CHECK(does_not.alternatives[0].gain < 1.1);
}

TEST_CASE("gains are ratios of throughput, and shared errors cancel in them") {
  const Scenario base = scenario("bert-base", "Standard_ND96amsr_A100_v4", 1, 16, Precision::fp16);
  const Decision decision = against(base, {1, 8});
  CHECK(decision.alternatives[0].gain == 1);
  CHECK(decision.alternatives[0].gain_interval.high == Approx(1).epsilon(1e-12));
  CHECK(decision.alternatives[0].odds_faster_than_base == 0.5);
  const AlternativeAnswer& eight = decision.alternatives[1];
  CHECK(eight.gain == Approx(eight.prediction.speedup.value).epsilon(1e-9));
  CHECK(eight.odds_faster_than_base > 0.999);
  const auto width = [](const Quantity& quantity) { return std::log(quantity.high / quantity.low); };
  CHECK(width(eight.gain_interval) < width(eight.prediction.step_time) + width(decision.base.prediction.step_time));
}

TEST_CASE("independent runs share the input pipeline of their node and nothing else") {
  Scenario base = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  const Decision free = against(base, {8});
  const AlternativeAnswer& eight = free.alternatives[0];
  CHECK(eight.independent_runs.value == Approx(8 * free.base.prediction.throughput.value).epsilon(1e-9));
  base.input.samples_per_s_per_node = 2000;
  CHECK(against(base, {8}).alternatives[0].independent_runs.value == Approx(2000).epsilon(1e-9));
  CHECK_FALSE(free.base.independent_runs.known);
}

TEST_CASE("without options several GPUs are compared with one") {
  Question question;
  question.base = scenario("bert-base", "Standard_ND96amsr_A100_v4", 8, 32, Precision::fp16);
  const Decision decision = decide(question, catalogue());
  CHECK(decision.answer == "Yes");
  CHECK(decision.base.scenario.cluster.gpus == 1);
  REQUIRE(decision.alternatives.size() == 1);
  CHECK(decision.alternatives[0].gain == Approx(decision.alternatives[0].prediction.speedup.value).epsilon(1e-9));
  question.base.cluster.gpus = 1;
  CHECK_THROWS_AS(decide(question, catalogue()), Error);
}

TEST_CASE("advice is what the simulator finds faster") {
  Scenario starved = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  starved.input.samples_per_s_per_node = 200;
  CHECK(mentions(against(starved, {8}).change_first, "input that keeps up"));
  const Scenario slow_precision = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp32);
  CHECK(mentions(against(slow_precision, {8}).change_first, "mixed precision"));
  const Scenario tiny = scenario("resnet50", "p3.16xlarge", 1, 1, Precision::fp16);
  CHECK(mentions(against(tiny, {8}).change_first, "CUDA graphs"));
  CHECK(mentions(against(tiny, {8}).change_first, "micro-batch 2 instead of 1"));
}

}  // namespace
}  // namespace foretrain::sim::studies
