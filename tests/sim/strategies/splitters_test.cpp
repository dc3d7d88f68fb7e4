#include "sim/strategies/splitters.h"

#include <variant>

#include "base/error.h"
#include "models/fuse.h"
#include "sim/tables.h"
#include "sim/workload.h"
#include "tests/sim/strategies/local_models.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

TEST_CASE("one rank without padding has every zoo model as it is") {
  for (const models::ZooEntry& entry : models::zoo_entries(studies::catalogue().data())) {
    CAPTURE(entry.name);
    const models::Model model = zoo_model(entry.name, 2);
    const LocalModel local = Splitting().of(model);
    CHECK(parameter_count(local) == models::parameter_count(model));
    double saved = 0, flops = 0;
    for (const LocalOperator* part : flat_operators(local)) {
      saved += part->op.saved_elements;
      flops += models::forward_flops(part->op).value;
      CHECK(part->before_forward.size() + part->after_forward.size() + part->before_backward.size() +
                part->after_backward.size() ==
            0);
    }
    CHECK(saved == Approx(models::saved_elements(model)));
    CHECK(flops == Approx(models::forward_flops(model).value));
  }
}

TEST_CASE("kernels are fused first, where the stack fuses them") {
  Splitting fusing(tensor_plan(8, true));
  fusing.set("fused_elementwise", 1);
  const LocalModel fused = fusing.of(decoder({}));
  const LocalModel expected = Splitting(tensor_plan(8, true)).of(models::with_fused_kernels(decoder({})));
  const auto parts = flat_operators(fused), same = flat_operators(expected);
  REQUIRE(parts.size() == same.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i]->op.name == same[i]->op.name);
    CHECK(models::forward_elements(parts[i]->op) == models::forward_elements(same[i]->op));
  }
  // Each layer's two dropouts join their residuals, that of the embeddings the sum; softmax and loss are one.
  const LocalModel unfused = Splitting().of(decoder({}));
  CHECK(parts.size() == flat_operators(unfused).size() - 2 * 2 - 1 - 1);
  CHECK(operator_named(fused, "loss").before_forward.size() == 1);
  CHECK(operator_named(fused, "loss").after_forward.size() == 2);
}

TEST_CASE("the vocabulary is padded to a multiple of the stack's number times the tensor-parallel ranks") {
  Sizes sizes;
  sizes.vocabulary = 50257;
  Splitting one, eight(tensor_plan(8));
  one.set("vocabulary_multiple", 128);
  eight.set("vocabulary_multiple", 128);
  const LocalModel whole = one.of(decoder(sizes)), part = eight.of(decoder(sizes));
  const auto logits = [](const LocalModel& model) {
    return std::get<models::GemmShape>(operator_named(model, "lm_head").op.shape).n;
  };
  CHECK(logits(whole) == 50304);     // 393 · 128
  CHECK(logits(part) == 51200 / 8);  // 50 · 1024
  CHECK(operator_named(whole, "wte").op.parameters.at(0).shape == std::vector<std::int64_t>{50304, 1024});
  CHECK(operator_named(whole, "lm_head").op.tied_parameters.at(0).shape == std::vector<std::int64_t>{50304, 1024});
  const double tokens = 3 * 512;
  CHECK(operator_named(whole, "loss").op.saved_elements == Approx(tokens * 50304));
  // Zeros over the table's gradient, the head's added to it, rows added: 4 · table + 3 · tokens.
  CHECK(models::backward_elements(operator_named(whole, "wte").op) == Approx((4 * 50304.0 + 3 * tokens) * 1024));
  CHECK(models::backward_elements(operator_named(part, "wte").op) == Approx((4 * 6400.0 + 3 * tokens) * 1024));
}

TEST_CASE("without a multiple the vocabulary is padded as far as the ranks need") {
  Sizes sizes;
  sizes.vocabulary = 50257;
  const LocalModel part = Splitting(tensor_plan(4)).of(decoder(sizes));
  CHECK(operator_named(part, "wte").op.parameters.at(0).shape == std::vector<std::int64_t>{50260 / 4, 1024});
}

TEST_CASE("spread tables exchange with all data-parallel ranks what their product reads") {
  Splitting spread;
  spread.scenario = studies::scenario("insightface-r100-glint360k", "DLPerf V100", 8, 64, models::Precision::fp32);
  spread.scenario.plan.tables = "sharded";
  const LocalModel local = spread.of(build_workload(spread.scenario, 64, studies::catalogue().data()));
  int exchanges = 0;
  for (const LocalOperator* part : flat_operators(local)) {
    if (!part->op.often_sharded || part->op.parameters.empty()) continue;
    ++exchanges;
    CHECK(part->before_forward.at(0).communicator == "data");
    CHECK(part->before_forward.at(0).kind == CollectiveKind::all_gather);
    CHECK(part->before_forward.at(0).bytes.value == 8 * 64 * 512 * 4);
    CHECK(part->after_backward.at(0).kind == CollectiveKind::reduce_scatter);
    CHECK(part->after_forward.empty());
  }
  CHECK(exchanges == 1);
}

TEST_CASE("spread embeddings exchange what was looked up") {
  Splitting spread;
  spread.scenario = studies::scenario("dlrm", "DGX A100 80GB", 8, 1024, models::Precision::fp32);
  spread.scenario.plan.tables = "sharded";
  const models::Model model = build_workload(spread.scenario, 1024, studies::catalogue().data());
  const auto exchanges = [&] {
    int found = 0;
    const LocalModel local = spread.of(model);
    for (const LocalOperator* part : flat_operators(local)) {
      if (part->after_forward.empty()) continue;
      ++found;
      CHECK(part->after_forward.at(0).kind == CollectiveKind::all_to_all);
      CHECK(part->before_backward.at(0).kind == CollectiveKind::all_to_all);
      CHECK(part->after_forward.at(0).bytes.value == 1024.0 * 26 * 128 * 4);
    }
    return found;
  };
  CHECK(exchanges() == 1);
  spread.scenario.cluster.gpus = 1;
  CHECK(exchanges() == 0);
}

TEST_CASE("what this version cannot split is an error") {
  const auto where = [](const Plan& plan) {
    try {
      Splitting(plan).of(decoder({}));
    } catch (const Error& e) {
      return e.where();
    }
    return std::string("no error");
  };
  Plan plan;
  plan.context = 2;
  CHECK(where(plan) == "/plan/context");
  plan = {};
  plan.expert = 2;
  CHECK(where(plan) == "/plan/expert");
  CHECK(where({}) == "no error");
}

}  // namespace
}  // namespace foretrain::sim::strategies
