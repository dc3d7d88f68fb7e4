#include "reports/warnings.h"

#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::reports;

TEST_CASE("a warning of several options is said once, without what differs") {
  sim::Decision decision;
  decision.base.prediction.warnings = {"assumed: recurrent step (64 % of the step)", "retired (2025)"};
  decision.alternatives.resize(2);
  decision.alternatives[0].prediction.warnings = {"assumed: recurrent step (62 % of the step)"};
  decision.alternatives[1].prediction.warnings = {"retired (2025)", "extrapolating"};
  const std::vector<SharedWarning> shared = shared_warnings(decision);
  REQUIRE(shared.size() == 3);
  CHECK(shared[0].text == "assumed: recurrent step");
  CHECK(shared[0].options == std::vector<std::size_t>{0, 1});
  CHECK(shared[1].text == "retired (2025)");
  CHECK(shared[1].options == std::vector<std::size_t>{0, 2});
  CHECK(shared[2].text == "extrapolating");
  CHECK(shared[2].options == std::vector<std::size_t>{2});
}

TEST_CASE("option numbers are written as ranges") {
  CHECK(number_ranges({3}) == "3");
  CHECK(number_ranges({0, 1}) == "0, 1");
  CHECK(number_ranges({0, 1, 2, 3, 5}) == "0–3, 5");
}
