#include "sim/strategies/recompute.h"

#include "base/error.h"
#include "tests/sim/strategies/local_models.h"

namespace foretrain::sim::strategies {
namespace {

Plan recomputing(const std::string& kind, std::int64_t every = 1) {
  Plan plan;
  plan.recompute = kind;
  plan.recompute_every = every;
  return plan;
}

TEST_CASE("nothing is recomputed unless asked") {
  const LocalModel model = Splitting().of(decoder({}));
  CHECK(model.segments.empty());
  for (const LocalOperator* local : flat_operators(model)) CHECK(local->segment == not_recomputed);
}

TEST_CASE("selective recompute runs attention cores again, which keep query, key and value") {
  const LocalModel model = Splitting(recomputing("selective")).of(decoder({}));
  REQUIRE(model.segments.size() == 2);
  for (const LocalOperator* local : flat_operators(model)) {
    CHECK((local->segment != not_recomputed) == (local->op.kind == models::OperatorKind::attention));
  }
  CHECK(model.segments[0].kept_elements == 3.0 * 3 * 512 * 1024);
}

TEST_CASE("full recompute keeps the input of every block, embeddings and head stay") {
  const LocalModel model = Splitting(recomputing("full")).of(decoder({}));
  REQUIRE(model.segments.size() == 2);
  for (const RecomputeSegment& segment : model.segments) CHECK(segment.kept_elements == 3.0 * 512 * 1024);
  CHECK(operator_named(model, "wte").segment == not_recomputed);
  CHECK(operator_named(model, "h.0.ln_1").segment == 0);
  CHECK(operator_named(model, "h.1.mlp.c_proj").segment == 1);
  CHECK(operator_named(model, "lm_head").segment == not_recomputed);
}

TEST_CASE("a model without blocks recomputes its layers, the first from what the model is given") {
  const models::Model whole = zoo_model("resnet50", 2);
  const LocalModel model = Splitting(recomputing("full")).of(whole);
  CHECK(model.segments.size() == model.layers.size());
  CHECK(model.segments.at(0).kept_elements == 2 * whole.sample_elements);
  CHECK(model.segments.at(1).kept_elements == model.layers.at(0).output_elements);
}

TEST_CASE("joined segments keep one input and count from 0") {
  Sizes sizes;
  sizes.layers = 5;
  const LocalModel marked = Splitting(recomputing("full", 2)).of(decoder(sizes));
  LocalModel chunk = marked;
  chunk.layers.erase(chunk.layers.begin(), chunk.layers.begin() + 2);  // embeddings and the first block
  join_segments(chunk, marked.segments, 3);
  REQUIRE(chunk.segments.size() == 2);  // of 3 blocks and 1
  CHECK(operator_named(chunk, "h.1.ln_1").segment == 0);
  CHECK(operator_named(chunk, "h.3.ln_1").segment == 0);
  CHECK(operator_named(chunk, "h.4.ln_1").segment == 1);
  CHECK(chunk.segments[1].kept_elements == 3.0 * 512 * 1024);
}

TEST_CASE("attention cores are not joined, since other operators stand between them") {
  const LocalModel marked = Splitting(recomputing("selective")).of(decoder({}));
  LocalModel chunk = marked;
  join_segments(chunk, marked.segments, 8);
  CHECK(chunk.segments.size() == 2);
}

TEST_CASE("what cannot be recomputed is an error") {
  const auto where = [](const models::Model& model, const Plan& plan) {
    try {
      Splitting(plan).of(model);
    } catch (const Error& e) {
      return e.where();
    }
    return std::string("no error");
  };
  CHECK(where(decoder({}), recomputing("partial")) == "/plan/recompute");
  CHECK(where(zoo_model("resnet50", 2), recomputing("selective")) == "/plan/recompute");
  CHECK(where(decoder({}), recomputing("none", 2)) == "/plan/recompute_every");
  CHECK(where(decoder({}), recomputing("selective", 2)) == "/plan/recompute_every");
  CHECK(where(decoder({}), recomputing("full", 2)) == "no error");
}

}  // namespace
}  // namespace foretrain::sim::strategies
