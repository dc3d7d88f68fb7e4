// Solve: the argument at which a rising function takes a value.
#pragma once

#include <functional>
#include <optional>

namespace foretrain::sim::studies {

// The x > 0 with rising(x) = target to 1e-9 (relative), searched from 1 on; rising grows without bound. Empty when
// rising is above the target even at x = 1e-6.
[[nodiscard]] std::optional<double> solve_rising(const std::function<double(double)>& rising, double target);

}  // namespace foretrain::sim::studies
