#include "sim/studies/run_score.h"

#include <algorithm>
#include <cmath>

#include "sim/studies/run_baselines.h"
#include "sim/studies/score.h"
#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

ValidatedRun run(const std::string& id, const std::string& group, double ideal, double measured, double predicted) {
  ValidatedRun result;
  result.label = {id, group, group == "a" ? "A100-80GB" : "H100", "A", true};
  result.measured = measured;
  result.predicted = predicted;
  result.low = 0.9 * predicted;
  result.high = 1.1 * predicted;
  result.ideal_step_seconds = ideal;
  result.set = id;
  return result;
}

double baseline(const ValidatedRun& of, const char* name) { return of.baselines.at(name); }

// Group a runs at 50 and 40 % of peak, group b at 25 %.
RunValidation three_runs() {
  RunValidation validation;
  validation.runs = {run("a1", "a", 1, 2, 2.2), run("a2", "a", 2, 5, 4.5), run("b1", "b", 1, 4, 4)};
  validation.declined = {{{"b2", "b", "H100", "A", true}, "mixture of experts"},
                         {{"b3", "b", "H100", "B", false}, "context parallelism"},
                         {{"b4", "b", "H100", "D", true}, "nothing measured"}};
  fill_baselines(validation.runs);
  fill_scores(validation);
  return validation;
}

TEST_CASE("the best utilisation has the least mean error of all, by brute force") {
  const std::vector<double> ideal = {1, 2, 3, 1.5, 0.7}, measured = {2.1, 5.3, 6.1, 4.4, 1.2};
  const auto error_at = [&](double utilisation) {
    double error = 0;
    for (std::size_t i = 0; i < ideal.size(); ++i) error += std::abs(ideal[i] / utilisation / measured[i] - 1);
    return error;
  };
  double best = 0, best_error = HUGE_VAL;
  for (double u = 0.2; u < 0.8; u += 1e-5) {
    if (error_at(u) >= best_error) continue;
    best = u;
    best_error = error_at(u);
  }
  CHECK(best_utilisation(ideal, measured) == Approx(best).margin(2e-5));
  CHECK(best_utilisation({1}, {4}) == Approx(0.25));
  CHECK(std::isnan(best_utilisation({}, {})));
}

TEST_CASE("baselines are one utilisation, of the group or of all others") {
  const RunValidation validation = three_runs();
  const ValidatedRun &a1 = validation.runs[0], &a2 = validation.runs[1], &b1 = validation.runs[2];
  // a: errors |0.5/u − 1| + |0.4/u − 1| are least at u = 0.5: a1 exact, a2 2 / 0.5 = 4 s.
  CHECK(baseline(a1, "utilisation_of_group") == Approx(2));
  CHECK(baseline(a2, "utilisation_of_group") == Approx(4));
  CHECK(baseline(b1, "utilisation_of_group") == Approx(4));
  CHECK(baseline(a1, "utilisation_of_others") == Approx(1 / 0.25));
  CHECK(baseline(b1, "utilisation_of_others") == Approx(1 / 0.5));
  // Without bubbles the second baseline is the first.
  CHECK(baseline(a2, "utilisation_and_bubble_of_group") == Approx(4));
}

TEST_CASE("what a group measured has no part in its fair baseline") {
  RunValidation validation = three_runs();
  validation.runs[2].measured = 40;
  fill_baselines(validation.runs);
  CHECK(baseline(validation.runs[2], "utilisation_of_others") == Approx(2));
  CHECK(baseline(validation.runs[2], "utilisation_of_group") == Approx(40));
}

TEST_CASE("a bubble stretches the second baseline alone") {
  std::vector<ValidatedRun> runs = {run("a1", "a", 1, 2, 2), run("a2", "a", 1, 3, 3)};
  runs[1].bubble = 0.5;
  fill_baselines(runs);
  // 1 / u and 1.5 / u with u = 0.5 meet both runs.
  CHECK(baseline(runs[0], "utilisation_and_bubble_of_group") == Approx(2));
  CHECK(baseline(runs[1], "utilisation_and_bubble_of_group") == Approx(3));
  CHECK(std::isnan(baseline(runs[0], "utilisation_of_others")));
}

TEST_CASE("scores of runs by group, by class and of all") {
  const RunValidation validation = three_runs();
  REQUIRE(validation.groups.size() == 2);
  const GroupScore& a = validation.groups[0].errors;
  CHECK(a.name == "a");
  CHECK(a.rows == 2);
  CHECK(a.predicted == 2);
  CHECK(a.points == 2);
  CHECK(a.mape == Approx(0.1));  // +10 %, −10 %
  CHECK(a.bias == Approx(0).margin(1e-12));
  CHECK(a.coverage90 == Approx(0.5));  // 2 in [1.98, 2.42]; 5 not in [4.05, 4.95]
  CHECK(a.baselines.at("utilisation_of_group").mape == Approx(0.1));  // 0 and 20 %
  CHECK(a.baselines.at("utilisation_of_others").mape == Approx((1.0 + 0.6) / 2));  // 4 of 2, 8 of 5
  CHECK(a.skill == Approx(0).margin(1e-12));
  CHECK(validation.groups[0].fair_skill == Approx(1 - 0.1 / 0.8));
  const GroupScore& b = validation.groups[1].errors;
  CHECK(b.rows == 4);
  CHECK(b.unsupported == 3);
  CHECK(std::isnan(b.skill));  // one run: its own utilisation errs nowhere
  CHECK(validation.groups[1].fair_skill == Approx(1));
  REQUIRE(validation.gpu_classes.size() == 2);
  CHECK(validation.gpu_classes[1].errors.name == "H100");
  CHECK(validation.overall.errors.rows == 6);
  CHECK(validation.overall.errors.predicted == 3);
  CHECK(validation.overall.errors.mape == Approx(0.2 / 3));
}

TEST_CASE("complete runs are those of tier A and B that keep tokens and experts whole") {
  const RunValidation validation = three_runs();
  CHECK(validation.complete == 4);  // three predicted, b2; not b3 (context), not b4 (tier D)
  CHECK(validation.complete_predicted == 3);
}

TEST_CASE("families and runs together have counts and errors, and no baseline in common") {
  Validation validation;
  ValidatedPoint point;
  point.id = "F1";
  point.measured = 4;
  point.predicted = 5;
  validation.points = {point};
  fill_scores(validation);
  validation.runs = three_runs();
  const GroupScore pooled = pooled_score(validation);
  CHECK(pooled.name == "overall");
  CHECK(pooled.rows == 7);
  CHECK(pooled.predicted == 4);
  CHECK(pooled.unsupported == 3);
  CHECK(pooled.mape == Approx((0.25 + 0.1 + 0.1 + 0) / 4));
  CHECK(pooled.baselines.empty());
  CHECK(std::isnan(pooled.skill));
}

}  // namespace
RunScore scored(double error, double fair, double hard, double hard_with_bubble) {
  RunScore score;
  score.errors.points = 1;
  score.errors.mape = error;
  score.errors.baselines = {{fair_baseline, {fair, fair}},
                            {"utilisation_of_group", {hard, hard}},
                            {"utilisation_and_bubble_of_group", {hard_with_bubble, hard_with_bubble}}};
  return score;
}

TEST_CASE("groups count alike, and against a constant that knows them only where it errs by more than a tenth") {
  // Hard baselines 0.2, 0.05 (knows the group: left out), 0.15, and a first group without a fair one.
  const std::vector<RunScore> groups = {scored(0.1, std::nan(""), 0.2, 0.3), scored(0.04, 0.05, 0.2, 0.05),
                                        scored(0.16, 0.15, 0.15, 0.17), RunScore()};
  const GroupComparison comparison = compare_groups(groups);
  CHECK(comparison.groups == 3);
  CHECK(comparison.mean_mape == Approx((0.1 + 0.04 + 0.16) / 3));
  CHECK(comparison.with_fair == 2);
  CHECK(comparison.better_than_fair == 1);
  CHECK(comparison.with_hard == 2);
  CHECK(comparison.better_than_hard == 1);
  CHECK(std::isnan(compare_groups({}).mean_mape));
}

}  // namespace foretrain::sim::studies
