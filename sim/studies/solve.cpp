#include "sim/studies/solve.h"

#include <algorithm>
#include <cmath>

namespace foretrain::sim::studies {

std::optional<double> solve_rising(const std::function<double(double)>& rising, double target) {
  constexpr double tolerance = 1e-9, smallest = 1e-6;
  double low = 1.0, high = 1.0, at = rising(1.0);
  if (std::abs(at - target) <= tolerance * target) return 1.0;
  while (at < target) at = rising(high = std::max(2 * high, high * target / at));
  const double high_value = at;
  at = rising(low);
  while (at > target) {
    if (low < smallest) return std::nullopt;
    at = rising(low = std::min(low / 2, low * target / at));
  }
  double low_error = at - target, high_error = high_value - target;
  int last_side = 0;
  for (int round = 0; round < 200; ++round) {  // false position; Illinois rule: an end that stays counts half
    const double x = (low * high_error - high * low_error) / (high_error - low_error);
    const double error = rising(x) - target;
    if (std::abs(error) <= tolerance * target) return x;
    const int side = error < 0 ? -1 : 1;
    double& moved = side < 0 ? low : high;
    double& moved_error = side < 0 ? low_error : high_error;
    double& stale_error = side < 0 ? high_error : low_error;
    moved = x;
    moved_error = error;
    if (side == last_side) stale_error /= 2;
    last_side = side;
  }
  return (low + high) / 2;
}

}  // namespace foretrain::sim::studies
