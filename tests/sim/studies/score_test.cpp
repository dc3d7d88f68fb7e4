#include "sim/studies/score.h"

#include <cmath>

#include "sim/studies/score_baselines.h"
#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

ValidatedPoint point(const std::string& id, std::int64_t gpus, double measured, double predicted) {
  ValidatedPoint result;
  result.id = id;
  result.group = "g" + id.substr(0, 1);
  result.kind = "single node";
  result.gpus = gpus;
  result.measured = measured;
  result.predicted = predicted;
  result.low = 0.9 * predicted;
  result.high = 1.05 * predicted;
  return result;
}

// a1 at 2 and 4 GPUs: errors +10 % (1.98 of 1.8) and −5 % (3.04 of 3.2); b1 at 8 GPUs: +40 % (5.6 of 4).
Validation three_points() {
  Validation validation;
  validation.points = {point("a1", 2, 1.8, 1.98), point("a1", 4, 3.2, 3.04), point("b1", 8, 4.0, 5.6)};
  validation.declined = {{"b2", "gb", "parameter server", "no such model"}};
  fill_baselines(validation.points);
  fill_scores(validation);
  return validation;
}

double baseline(const ValidatedPoint& of, const char* name) { return of.baselines.at(name); }

TEST_CASE("scores of a group follow from the errors of its points") {
  const Validation validation = three_points();
  REQUIRE(validation.groups.size() == 2);
  const GroupScore& a = validation.groups.front();
  CHECK(a.name == "ga");
  CHECK(a.rows == 1);
  CHECK(a.predicted == 1);
  CHECK(a.unsupported == 0);
  CHECK(a.points == 2);
  CHECK(a.mape == Approx(0.075));  // (10 + 5) / 2 %
  CHECK(a.median_ape == Approx(0.075));
  CHECK(a.bias == Approx(0.025));  // (10 − 5) / 2 %
  CHECK(a.within_10_percent == Approx(1));
  // 1.8 in [1.782, 2.079]; 3.2 not in [2.736, 3.192].
  CHECK(a.coverage90 == Approx(0.5));
  CHECK(a.median_width == Approx(0.15));
}

TEST_CASE("the overall score counts families, points and what was declined") {
  const GroupScore all = three_points().overall;
  CHECK(all.rows == 3);
  CHECK(all.predicted == 2);
  CHECK(all.unsupported == 1);
  CHECK(all.points == 3);
  CHECK(all.mape == Approx(0.55 / 3));
  CHECK(all.median_ape == Approx(0.10));
  CHECK(all.within_10_percent == Approx(2.0 / 3));
}

TEST_CASE("a group of which nothing was predicted has no errors, only counts") {
  const Validation validation = three_points();
  REQUIRE(validation.kinds.size() == 2);
  const GroupScore& servers = validation.kinds.front();
  CHECK(servers.name == "parameter server");
  CHECK(servers.rows == 1);
  CHECK(servers.unsupported == 1);
  CHECK(servers.predicted == 0);
  for (const double score : {servers.mape, servers.median_ape, servers.bias, servers.within_10_percent,
                             servers.coverage90, servers.median_width, servers.skill, servers.median_skill}) {
    CHECK(std::isnan(score));
  }
  CHECK(servers.baselines.empty());
}

TEST_CASE("linear is the ratio of the counts, over the anchor's") {
  std::vector<ValidatedPoint> points = {point("a1", 32, 3.0, 3.1)};
  points[0].anchor_gpus = 8;
  fill_baselines(points);
  CHECK(baseline(points[0], "linear") == 4);
}

TEST_CASE("the constant efficiency of a family is fitted to the others alone") {
  std::vector<ValidatedPoint> points = {point("a1", 2, 1.8, 2), point("b1", 4, 3.2, 4)};
  fill_baselines(points);
  // a1 from b1: 4·e² = 3.2, e = 0.894427: 2·e = 1.788854. b1 from a1: 2·e = 1.8, e = 0.9: 4·0.81 = 3.24.
  CHECK(baseline(points[0], "constant_efficiency") == Approx(1.788854).epsilon(1e-5));
  CHECK(baseline(points[1], "constant_efficiency") == Approx(3.24).epsilon(1e-5));
  // What a family measured has no part in its own baseline.
  points[0].measured = 1.1;
  fill_baselines(points);
  CHECK(baseline(points[0], "constant_efficiency") == Approx(1.788854).epsilon(1e-5));
}

TEST_CASE("the fitted efficiency has the least mean error of all, by brute force") {
  std::vector<ValidatedPoint> points;
  const double efficiencies[] = {0.99, 0.97, 0.93, 0.85, 0.96, 0.6, 0.98};
  for (int i = 0; i < 7; ++i) {
    for (const std::int64_t gpus : {2, 4, 8, 16}) {
      const double doublings = std::log2(static_cast<double>(gpus));
      // Efficiency falls differently over the doublings of every family: no e meets a whole family.
      const double measured = static_cast<double>(gpus) * std::pow(efficiencies[i], doublings * (0.8 + 0.1 * i));
      points.push_back(point("f" + std::to_string(i), gpus, measured, 1));
    }
  }
  fill_baselines(points);
  for (int left_out = 0; left_out < 7; ++left_out) {
    double best_error = HUGE_VAL, best = 0;
    for (double e = 0.5; e < 1.05; e += 1e-5) {
      double error = 0;
      for (const ValidatedPoint& one : points) {
        if (one.id == "f" + std::to_string(left_out)) continue;
        const auto gpus = static_cast<double>(one.gpus);
        error += std::abs(gpus * std::pow(e, std::log2(gpus)) / one.measured - 1);
      }
      if (error < best_error) best = e;
      best_error = std::min(best_error, error);
    }
    const ValidatedPoint& two_gpus = points[static_cast<std::size_t>(4 * left_out)];
    CHECK(baseline(two_gpus, "constant_efficiency") / 2 == Approx(best).epsilon(2e-5));
  }
}

TEST_CASE("a single family has no others to fit a baseline to") {
  std::vector<ValidatedPoint> points = {point("a1", 2, 1.6, 1.7)};
  fill_baselines(points);
  CHECK(std::isnan(baseline(points[0], "constant_efficiency")));
  // Linear errs by 25 %, the prediction by 6.25 %: skill 0.75 over the one baseline there is.
  CHECK(score_of({&points[0]}).skill == Approx(0.75));
  CHECK(std::isnan(score_of({&points[0]}).baselines.at("constant_efficiency").mape));
}

TEST_CASE("skill is over the better baseline, by mean and by median") {
  std::vector<ValidatedPoint> points = {point("a1", 2, 2, 2.1), point("a2", 4, 3.2, 3.2), point("a3", 8, 4, 4.4)};
  points[0].baselines = {{"linear", 2.0}, {"constant_efficiency", 1.8}};  // errors 0 %, 10 %
  points[1].baselines = {{"linear", 4.0}, {"constant_efficiency", 3.2}};  // 25 %, 0 %
  points[2].baselines = {{"linear", 8.0}, {"constant_efficiency", 6.0}};  // 100 %, 50 %
  const GroupScore score = score_of({&points[0], &points[1], &points[2]});
  // Predictions err by 5, 0 and 10 %: mean and median 5 %. Means 41.67 and 20 %, medians 25 and 10 %.
  CHECK(score.baselines.at("linear").mape == Approx(1.25 / 3));
  CHECK(score.baselines.at("constant_efficiency").median_ape == Approx(0.1));
  CHECK(score.skill == Approx(1 - 0.05 / 0.2));
  CHECK(score.median_skill == Approx(1 - 0.05 / 0.1));
}

TEST_CASE("there is no skill over a baseline that errs nowhere") {
  std::vector<ValidatedPoint> points = {point("a1", 2, 2, 2.1)};
  points[0].baselines = {{"linear", 2.0}};
  CHECK(std::isnan(score_of({&points[0]}).skill));
}

}  // namespace
}  // namespace foretrain::sim::studies
