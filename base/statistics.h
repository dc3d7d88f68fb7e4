// Statistics: the small amount of it that predictions and their intervals need.
#pragma once

#include <cstddef>
#include <vector>

namespace foretrain {

// Quantile of the standard normal distribution, 0 < p < 1 (relative error below 1e-9).
[[nodiscard]] double normal_quantile(double p);
// Expected maximum of n independent standard normal variables, n >= 1 (exact integral, |error| < 1e-6 up to 1e6).
[[nodiscard]] double expected_normal_maximum(std::size_t n);
// Linear-interpolation quantile of a sample (not empty), 0 <= p <= 1.
[[nodiscard]] double quantile(std::vector<double> sample, double p);
// Piecewise-linear interpolation of y over x in log-log space; x ascending and positive; beyond the
// ends the value of the end is returned.
[[nodiscard]] double interpolate_log_log(const std::vector<double>& x, const std::vector<double>& y, double at);

}  // namespace foretrain
