#include "sim/strategies/compression.h"

#include <cmath>

#include "base/error.h"
#include "sim/strategies/powersgd.h"
#include "sim/strategies/top_k.h"
#include "sim/studies/predict.h"
#include "sim/studies/run.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

constexpr double tensor = 2048.0 * 2048.0, all_elements = 4 * tensor;

// Four matrices in one bucket.
Step compressed(const std::string& how, int gpus = 8) {
  Step step(gpus);
  step.scenario.stack.compression = how;
  step.set("first_bucket_bytes", 1e12);
  return step;
}

TEST_CASE("two bytes per gradient, cast before and after") {
  const std::string name = GENERATE("fp16", "bf16");
  Step step = compressed(name);
  const Program program = step.composed().programs.front();
  const std::vector<Call> made = calls(program);
  REQUIRE(made.size() == 1);
  CHECK(made[0].bytes == 2 * all_elements);
  CHECK(count(program, StreamKind::compute, "cast") == 2);
}

TEST_CASE("PowerSGD sends thin matrices, and vectors as they are") {
  Step step = compressed("powersgd");
  step.set("powersgd_rank", 4);
  step.model.layers[1].operators[0].parameters.push_back({"bias", {2048}});
  const std::vector<Call> made = calls(step);
  REQUIRE(made.size() == 3);
  CHECK(made[0].label == "all-reduce vectors of bucket 1");
  CHECK(made[0].bytes == 2048 * 4);
  CHECK(made[1].bytes == 4 * 2048 * 4 * 4);  // P: 4 matrices · 2048 rows · rank 4 · 4 bytes
  CHECK(made[2].bytes == 4 * 2048 * 4 * 4);  // Q: 2048 columns each
  for (const Call& call : made) CHECK(call.kind == CollectiveKind::all_reduce);
}

TEST_CASE("a tensor is a matrix of its first dimension against the others, if that saves half") {
  // A convolution 64 × (128·3·3): rank 4 takes (64 + 1152)·4 of 73,728. 64 × 10: (64 + 10)·4 = 296 · 2 is near 640.
  const LowRankBucket parts = low_rank({{64 * 1152.0, 0, 64}, {640, 0, 64}, {64, 0, 64}, {64 * 1152.0, 0, 64}}, 4);
  REQUIRE(parts.matrices.size() == 2);
  CHECK(parts.matrix_elements() == 2 * 64 * 1152.0 + 640);
  CHECK(parts.left_elements() == 2 * 64 * 4 + 64 * 4);
  CHECK(parts.right_elements() == 2 * 1152 * 4 + 10 * 4);
  CHECK(parts.vector_elements == 64);
  CHECK(low_rank({{640, 0, 64}}, 5).vector_elements == 640);  // (64 + 10)·5 · 2 = 740
}

TEST_CASE("PowerSGD's products and orthogonalisation cost the device, more with a higher rank") {
  const auto work = [](double rank) {
    Step step = compressed("powersgd");
    step.set("powersgd_rank", rank);
    step.replayed();
    CHECK(count(step.program, StreamKind::compute, "P = M·Q") == 1);
    CHECK(count(step.program, StreamKind::compute, "Q = Mᵀ·P") == 1);
    CHECK(count(step.program, StreamKind::compute, "M = P·Qᵀ") == 1);
    CHECK(count(step.program, StreamKind::compute, "orthogonalise") == 1);
    return step.sum_of(StreamKind::compute);
  };
  Step plain = compressed("none");
  plain.replayed();
  CHECK(work(1) > plain.sum_of(StreamKind::compute));
  CHECK(work(256) > work(1));
}

TEST_CASE("top-k gathers values and indices of all ranks") {
  for (const int gpus : {8, 16, 64}) {
    Step step = compressed("top_k", gpus);
    step.set("top_k_fraction", 0.01);
    const std::vector<Call> made = calls(step);
    const double chosen = std::ceil(0.01 * all_elements);
    REQUIRE(made.size() == 2);
    CHECK(made[0].kind == CollectiveKind::all_gather);
    CHECK(made[0].bytes == gpus * chosen * 4);
    CHECK(made[1].bytes == gpus * chosen * 4);
  }
  CHECK(chosen_elements(10, 0.01) == 1);
  CHECK(chosen_elements(10, 2) == 10);
}

TEST_CASE("1-bit Adam sends signs twice and scales twice, after backward") {
  Step step = compressed("onebit_adam");
  step.set("first_bucket_bytes", 1);
  const std::vector<Call> made = calls(step);
  REQUIRE(made.size() == 4);
  CHECK(made[0].kind == CollectiveKind::all_to_all);
  CHECK(made[0].bytes == all_elements / 8);
  CHECK(made[1].bytes == 8 * 4);  // one fp32 scale of each rank
  CHECK(made[2].kind == CollectiveKind::all_gather);
  CHECK(made[2].bytes == all_elements / 8);
  CHECK(made[3].bytes == 8 * 4);
}

TEST_CASE("1-bit Adam needs Adam") {
  Step step = compressed("onebit_adam");
  step.scenario.training.optimizer = "sgd";
  CHECK_THROWS_AS(step.composed(), Error);
}

// BERT-large on two machines of eight A100 over 10 Gb/s of TCP, or on one over NVSwitch.
double step_seconds(const std::string& compression, bool slow) {
  Scenario scenario =
      studies::scenario("bert-large", "Standard_ND96amsr_A100_v4", slow ? 16 : 8, 8, models::Precision::fp16);
  scenario.stack.compression = compression;
  if (slow) {
    scenario.cluster.inter_node_gbits_per_s = 10;
    scenario.cluster.network = "tcp";
  }
  ParameterTable parameters;
  return studies::Run(scenario, studies::catalogue(), {}, {}, parameters).replay().step_seconds;
}

TEST_CASE("compression wins on a slow network and loses on a fast one") {
  const double plain_slow = step_seconds("none", true), plain_fast = step_seconds("none", false);
  for (const char* compression : {"powersgd", "top_k", "onebit_adam"}) {
    CAPTURE(compression);
    CHECK(step_seconds(compression, true) < 0.5 * plain_slow);
    CHECK(step_seconds(compression, false) > plain_fast);
  }
  CHECK(step_seconds("fp16", true) < 0.7 * plain_slow);
}

TEST_CASE("what ranks gather by top-k outgrows the dense all-reduce") {
  const auto ratio = [](int gpus) {
    Scenario scenario = studies::scenario("resnet50", "Standard_ND96amsr_A100_v4", gpus, 32, models::Precision::fp32);
    scenario.cluster.inter_node_gbits_per_s = 25;
    scenario.cluster.network = "tcp";
    const auto seconds = [&](const std::string& compression) {
      scenario.stack.compression = compression;
      ParameterTable parameters;
      return studies::Run(scenario, studies::catalogue(), {}, {}, parameters).replay().step_seconds;
    };
    const double plain = seconds("none");
    return seconds("top_k") / plain;
  };
  CHECK(ratio(16) < 1);
  CHECK(ratio(256) > ratio(16));
  CHECK(ratio(256) > 1);
}

TEST_CASE("the gain of a compression shows in a prediction") {
  Scenario scenario = studies::scenario("bert-large", "Standard_ND96amsr_A100_v4", 16, 8, models::Precision::fp16);
  scenario.cluster.inter_node_gbits_per_s = 10;
  scenario.cluster.network = "tcp";
  const double plain = studies::predict(scenario, studies::catalogue()).speedup.value;
  scenario.stack.compression = "powersgd";
  CHECK(studies::predict(scenario, studies::catalogue()).speedup.value > 2 * plain);
}

}  // namespace
}  // namespace foretrain::sim::strategies
