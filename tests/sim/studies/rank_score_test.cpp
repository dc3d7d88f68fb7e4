#include "sim/studies/rank_score.h"

#include <cmath>

#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

ValidatedRun alternative(const std::string& set, const std::string& configuration, double measured, double predicted) {
  ValidatedRun run;
  run.set = set;
  run.configuration = configuration;
  run.measured = measured;
  run.predicted = predicted;
  return run;
}

TEST_CASE("tau is 1 in the same order and -1 in the opposite one") {
  CHECK(kendall_tau_b({1, 2, 3, 4}, {10, 20, 25, 90}) == Approx(1));
  CHECK(kendall_tau_b({1, 2, 3, 4}, {9, 7, 5, 1}) == Approx(-1));
  // One of three pairs is turned round: (2 − 1) / 3.
  CHECK(kendall_tau_b({1, 2, 3}, {1, 3, 2}) == Approx(1.0 / 3));
}

TEST_CASE("ties count in neither order") {
  // Pairs of 1, 2, 2, 3 and 1, 2, 3, 4: five in order, one tied in the first list: 5 / sqrt(5 · 6).
  CHECK(kendall_tau_b({1, 2, 2, 3}, {1, 2, 3, 4}) == Approx(5 / std::sqrt(30.0)));
  CHECK(std::isnan(kendall_tau_b({1, 1, 1}, {1, 2, 3})));
}

TEST_CASE("regret is what the predicted pick costs over the best") {
  CHECK(regret({1.0, 1.2, 1.5}, {2.0, 2.1, 2.2}) == 0);
  CHECK(regret({1.0, 1.2, 1.5}, {2.2, 2.1, 2.0}) == Approx(0.5));
  // The first two are predicted alike: their mean, 1.1.
  CHECK(regret({1.0, 1.2, 1.5}, {2.0, 2.0, 2.2}) == Approx(0.1));
}

TEST_CASE("sets need three different configurations") {
  const std::vector<ValidatedRun> runs = {
      // In order but for one pair: tau 1/3, the pick costs nothing.
      alternative("a", "t1", 1, 1), alternative("a", "t2", 2, 3), alternative("a", "t4", 3, 2),
      // Two configurations, one of them measured twice.
      alternative("b", "t1", 1, 1), alternative("b", "t2", 2, 3), alternative("b", "t2", 2.1, 3),
      // The opposite order: tau −1, the pick takes three times as long.
      alternative("c", "t1", 1, 3), alternative("c", "t2", 2, 2), alternative("c", "t4", 3, 1)};
  std::vector<const ValidatedRun*> pointers;
  for (const ValidatedRun& run : runs) pointers.push_back(&run);
  const RankScore score = rank_score(pointers);
  CHECK(score.sets == 2);
  CHECK(score.kendall_tau == Approx((1.0 / 3 - 1) / 2));
  CHECK(score.regret == Approx((0 + 2) / 2.0));
  const RankScore none = rank_score({pointers[3], pointers[4], pointers[5]});
  CHECK(none.sets == 0);
  CHECK(std::isnan(none.kendall_tau));
  CHECK(std::isnan(none.regret));
}

}  // namespace
}  // namespace foretrain::sim::studies
