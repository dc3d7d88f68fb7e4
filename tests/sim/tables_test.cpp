#include "sim/tables.h"

#include "sim/studies/predict.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim {
namespace {

using models::Operator;
using models::OperatorKind;
using models::Precision;

Scenario faces(std::int64_t gpus, const std::string& tables) {
  Scenario asked = studies::scenario("insightface-r100-glint360k", "DLPerf V100", gpus, 64, Precision::fp32);
  asked.plan.tables = tables;
  return asked;
}

const Operator& classifier(const models::Model& model) {
  for (const models::Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      if (op.often_sharded && op.kind == OperatorKind::gemm) return op;
    }
  }
  FAIL("no classifier");
  return model.layers.front().operators.front();
}

models::Model built(const Scenario& scenario) {
  return build_workload(scenario, scenario.training.micro_batch, studies::catalogue().data());
}

TEST_CASE("a rank does as much of a spread classifier as it did of its own samples with a whole one") {
  const models::Model whole = built(faces(8, "replicated")), part = built(faces(8, "sharded"));
  // 64 × 360,232 identities × 512, or 8 · 64 × 45,029 × 512: the same.
  CHECK(models::forward_flops(classifier(part)).value == Approx(models::forward_flops(classifier(whole)).value));
  CHECK(models::parameter_count(classifier(part)) == 45029 * 512);
}

TEST_CASE("the inputs of a spread classifier are gathered and their gradients scattered") {
  const auto exchange = table_exchange(classifier(built(faces(8, "sharded"))), Precision::fp32);
  REQUIRE(exchange);
  CHECK(exchange->inputs);
  CHECK(exchange->forward == calibrate::CollectiveKind::all_gather);
  CHECK(exchange->backward == calibrate::CollectiveKind::reduce_scatter);
  CHECK(exchange->bytes.value == 8 * 64 * 512 * 4);
}

TEST_CASE("spread embeddings go to the ranks of their samples, and an update touches what was looked up") {
  Scenario asked = studies::scenario("dlrm", "DGX A100 80GB", 8, 1024, Precision::fp32);
  asked.plan.tables = "sharded";
  const models::Model model = built(asked);
  for (const models::Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      if (op.kind != OperatorKind::embedding) continue;
      const auto exchange = table_exchange(op, Precision::fp32);
      REQUIRE(exchange);
      CHECK_FALSE(exchange->inputs);
      CHECK(exchange->forward == calibrate::CollectiveKind::all_to_all);
      CHECK(exchange->bytes.value == 1024.0 * 26 * 128 * 4);  // samples · tables · width
      CHECK(updated_elements(op, asked.plan) == 1024.0 * 26 * 128);
      CHECK(updated_elements(op, {}) > 1e9);  // an eighth of 24 billion, all of it without sparse gradients
    }
  }
}

TEST_CASE("ordinary operators are left alone") {
  Scenario asked = studies::scenario("resnet50", "DGX A100 80GB", 8, 64, Precision::fp32);
  const double count = models::parameter_count(built(asked));
  asked.plan.tables = "sharded";
  CHECK(models::parameter_count(built(asked)) == count);
}

TEST_CASE("spreading a large classifier pays between nodes with one network card") {
  const auto speedup = [](const std::string& tables) {
    return studies::predict(faces(16, tables), studies::catalogue()).speedup.value;
  };
  CHECK(speedup("sharded") > 1.05 * speedup("replicated"));
}

}  // namespace
}  // namespace foretrain::sim
