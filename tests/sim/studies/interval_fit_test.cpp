#include "sim/studies/interval_fit.h"

#include <cmath>

#include "sim/studies/scaling_interval.h"
#include "sim/studies/shares.h"
#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

// A run that was measured exp(deviation · spread) times its prediction of one second.
ValidatedRun run(const std::string& source, double deviation, double spread = 0.1) {
  ValidatedRun run;
  run.label.group = source;
  run.traits.family = "transformer";
  run.traits.stack = "megatron";
  run.traits.chip = "A100";
  run.predicted = 1;
  run.measured = std::exp(deviation * spread);
  run.log_spread = spread;
  return run;
}

std::vector<const ValidatedRun*> pointers(const std::vector<ValidatedRun>& runs) {
  std::vector<const ValidatedRun*> all;
  for (const ValidatedRun& one : runs) all.push_back(&one);
  return all;
}

TEST_CASE("factors are the shortest interval that holds nine tenths and one run more") {
  std::vector<ValidatedRun> runs;
  for (int i = 0; i < 19; ++i) runs.push_back(run("s", 0.1 * i));  // 0, 0.1, … 1.8
  runs.push_back(run("s", -3));
  // Of 20 runs ⌈0.9 · 21⌉ = 19: without −3 the interval ends at 0 below.
  const auto factors = fit_interval_factors(pointers(runs));
  REQUIRE(factors.size() == 3);  // by stack, with the chip, with the scale
  for (const auto& one : factors) {
    CHECK(one.runs == 20);
    CHECK(one.below == 0);
    CHECK(one.above == Approx(1.8));
  }
}

TEST_CASE("deviations count in units of the predicted spread") {
  std::vector<ValidatedRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(run("s", 2, i < 5 ? 0.01 : 0.3));
  CHECK(fit_interval_factors(pointers(runs)).front().above == Approx(2));
}

TEST_CASE("few runs have no factors of their own") {
  std::vector<ValidatedRun> runs(19, run("s", 1));
  CHECK(fit_interval_factors(pointers(runs)).empty());
}

TEST_CASE("a source left out is judged by what the others teach") {
  std::vector<ValidatedRun> runs(20, run("calm", 0.5));
  runs.push_back(run("wild", 3));
  const std::vector<bool> held = held_left_out(pointers(runs));
  // The wild one lies outside 0.5 spreads; the calm ones, of whose stack nothing else is known, inside 1.645.
  CHECK_FALSE(held.back());
  CHECK(held.front());
}

TEST_CASE("a step's margins are never less than steps repeat") {
  const StepMargins narrow = step_margins(0.01, calibrate::IntervalFactors{"", "", "", "", 10, 0, 2}, 0.02);
  CHECK(narrow.below == Approx(half_width_90() * 0.02));
  CHECK(narrow.above == Approx(half_width_90() * 0.02));
  const StepMargins wide = step_margins(0.1, calibrate::IntervalFactors{"", "", "", "", 10, 1, 4}, 0.02);
  CHECK(wide.below == Approx(0.1));
  CHECK(wide.above == Approx(0.4));
  CHECK(step_margins(0.1, std::nullopt, 0).above == Approx(half_width_90() * 0.1));
}

}  // namespace
}  // namespace foretrain::sim::studies
