#include "sim/studies/solve.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

TEST_CASE("solve_rising finds where a rising function takes a value") {
  CHECK(*solve_rising([](double x) { return 3 * x; }, 12) == Approx(4).epsilon(1e-8));
  CHECK(*solve_rising([](double x) { return 0.5 + x * x; }, 0.6) == Approx(std::sqrt(0.1)).epsilon(1e-7));
  // A step that waits for input (2 s) until work takes longer: flat, then rising.
  const auto step = [](double x) { return std::max(2.0, 0.7 * x + 0.1); };
  CHECK(step(*solve_rising(step, 5)) == Approx(5).epsilon(1e-8));
  CHECK(*solve_rising(step, 2) == 1.0);  // already there
}

TEST_CASE("solve_rising gives up on values below the function's least") {
  CHECK_FALSE(solve_rising([](double x) { return 2 + x; }, 1.5));
  CHECK_FALSE(solve_rising([](double x) { return std::max(2.0, x); }, 1.5));
}

}  // namespace
}  // namespace foretrain::sim::studies
