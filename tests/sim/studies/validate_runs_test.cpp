#include "sim/studies/validate_runs.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/studies/predict.h"
#include "sim/studies/shares.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

// GPT-2 on eight A100s of one node, data-parallel.
LlmRun gpt2_run(const std::string& id, double measured = 0.5) {
  LlmRun run;
  run.label = {id, "mine", "A100-40GB", "A", true};
  run.scenario = scenario("gpt2", "DGX A100", 8, 8, models::Precision::fp16);
  run.measured_step_seconds = measured;
  run.ideal_step_seconds = 0.1;
  run.set = "s";
  run.configuration = id;
  return run;
}

TEST_CASE("a run's step is that of predict, without any anchor") {
  const LlmRun run = gpt2_run("r1");
  const ValidatedRun validated = predict_run(run, catalogue());
  CHECK(validated.predicted == Approx(predict(run.scenario, catalogue()).step_time.value).epsilon(1e-9));
  CHECK(validated.low < validated.predicted);
  CHECK(validated.predicted < validated.high);
  CHECK(validated.measured == 0.5);
  CHECK(validated.gpus == 8);
  CHECK(validated.plan == "t1 p1 d8 b8");
  CHECK_FALSE(validated.largest_part.empty());
  CHECK(validated.largest_part_share > 0);
  CHECK(validated.largest_part_share < 1);
}

TEST_CASE("what was measured changes no prediction") {
  const ValidatedRun one = predict_run(gpt2_run("r1", 0.5), catalogue());
  const ValidatedRun other = predict_run(gpt2_run("r1", 50), catalogue());
  CHECK(other.predicted == one.predicted);
  CHECK(other.low == one.low);
  CHECK(other.high == one.high);
  CHECK(other.measured == 50);
}

TEST_CASE("what the source does not state widens the interval as an independent cause") {
  LlmRun run = gpt2_run("r1");
  const ValidatedRun sure = predict_run(run, catalogue());
  run.assumed_spread = 0.3;
  const ValidatedRun unsure = predict_run(run, catalogue());
  CHECK(unsure.predicted == sure.predicted);
  const double before = std::log(sure.high / sure.predicted) / half_width_90();
  CHECK(std::log(unsure.high / unsure.predicted) / half_width_90() == Approx(std::hypot(before, 0.3)).epsilon(1e-9));
}

TEST_CASE("a run that cannot be simulated is declined with the reason, any number of workers predicts the others") {
  LlmRun no_model = gpt2_run("r2");
  no_model.scenario.model.name = "gpt-without-a-name";
  RunCorpus corpus{{gpt2_run("r3"), no_model, gpt2_run("r1", 0.4)}, {}};
  corpus.declined = {{{"r0", "mine", "A100-40GB", "C", true}, "no step time"}};
  ValidateOptions options;
  options.workers = 1;
  const RunValidation one = validate(corpus, catalogue(), options);
  options.workers = 3;
  const RunValidation three = validate(corpus, catalogue(), options);
  REQUIRE(one.runs.size() == 2);
  CHECK(one.runs[0].label.id == "r1");
  CHECK(one.runs[1].label.id == "r3");
  CHECK(one.runs[0].predicted == three.runs[0].predicted);
  CHECK(one.runs[0].high == three.runs[0].high);
  CHECK(one.runs[0].predicted == predict_run(corpus.runs[2], catalogue()).predicted);
  CHECK(one.runs[0].measured == 0.4);
  CHECK(one.runs[0].baselines.size() == 3);
  REQUIRE(one.declined.size() == 2);
  CHECK(one.declined[0].reason == "no step time");
  CHECK(one.declined[1].reason.find("gpt-without-a-name") != std::string::npos);
  CHECK(one.overall.errors.rows == 4);
  CHECK(one.overall.errors.predicted == 2);
  CHECK(one.complete == 3);  // r0 is of tier C
  CHECK(one.lost == 0);
}

TEST_CASE("two runs of one id are refused") {
  CHECK_THROWS_AS(validate(RunCorpus{{gpt2_run("r1"), gpt2_run("r1")}, {}}, catalogue()), Error);
}

}  // namespace
}  // namespace foretrain::sim::studies
