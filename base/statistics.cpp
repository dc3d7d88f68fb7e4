#include "base/statistics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

namespace foretrain {

namespace {

double density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }
double lower_tail(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
// log of the distribution function without cancellation on either side.
double log_lower_tail(double x) { return x < 0.0 ? std::log(lower_tail(x)) : std::log1p(-lower_tail(-x)); }

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0.0;
  for (const double c : coefficients) value = value * x + c;
  return value;
}

// Acklam's rational approximation of the normal quantile for p <= 1/2 (relative error 1.15e-9 at most).
double approximate_quantile(double p) {
  constexpr std::array<double, 6> centre_above = {-3.969683028665376e+01, 2.209460984245205e+02,
                                                  -2.759285104469687e+02, 1.383577518672690e+02,
                                                  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 6> centre_below = {-5.447609879822406e+01, 1.615858368580409e+02,
                                                  -1.556989798598866e+02, 6.680131188771972e+01,
                                                  -1.328068155288572e+01, 1.0};
  constexpr std::array<double, 6> tail_above = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                                -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 5> tail_below = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                                3.754408661907416e+00, 1.0};
  constexpr double tail = 0.02425;
  if (p < tail) {
    const double q = std::sqrt(-2.0 * std::log(p));
    return polynomial(tail_above, q) / polynomial(tail_below, q);
  }
  const double q = p - 0.5;
  return q * polynomial(centre_above, q * q) / polynomial(centre_below, q * q);
}

}  // namespace

double normal_quantile(double p) {
  assert(p > 0.0 && p < 1.0);
  if (p > 0.5) return -normal_quantile(1.0 - p);
  const double x = approximate_quantile(p);
  // One step of Halley's method takes the approximation to the accuracy of erfc.
  const double u = (lower_tail(x) - p) / density(x);
  return x - u / (1.0 + 0.5 * x * u);
}

double expected_normal_maximum(std::size_t n) {
  assert(n >= 1);
  // E = integral of x n phi(x) Phi(x)^(n-1). The trapezoidal rule converges exponentially on a smooth
  // peak: the narrowest one here (n = 1e9) is four steps wide and errs by far less than 1e-6.
  constexpr double step = 0.05;
  constexpr int lowest = -200;  // x = -10
  constexpr int highest = 240;  // x = 12
  const auto count = static_cast<double>(n);
  double sum = 0.0;
  for (int i = lowest; i <= highest; ++i) {
    const double x = i * step;
    sum += x * count * density(x) * std::exp((count - 1.0) * log_lower_tail(x));
  }
  return sum * step;
}

double quantile(std::vector<double> sample, double p) {
  assert(!sample.empty() && p >= 0.0 && p <= 1.0);
  std::sort(sample.begin(), sample.end());
  const double position = p * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return std::lerp(sample[below], sample[above], position - static_cast<double>(below));
}

double interpolate_log_log(const std::vector<double>& x, const std::vector<double>& y, double at) {
  assert(!x.empty() && x.size() == y.size());
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const auto above = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
  const std::size_t below = above - 1;
  const double share = std::log(at / x[below]) / std::log(x[above] / x[below]);
  return y[below] * std::pow(y[above] / y[below], share);
}

}  // namespace foretrain
