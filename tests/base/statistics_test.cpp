#include "base/statistics.h"

#include <cmath>

#include "tests/catch.h"

using namespace foretrain;

TEST_CASE("normal quantiles are the published ones") {
  CHECK(normal_quantile(0.5) == Approx(0.0).margin(1e-15));
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-12));
  CHECK(normal_quantile(0.95) == Approx(1.6448536269514722).epsilon(1e-12));
  CHECK(normal_quantile(0.001) == Approx(-3.090232306167813).epsilon(1e-12));
  CHECK(normal_quantile(1e-10) == Approx(-6.361340902404056).epsilon(1e-12));
}

TEST_CASE("the quantile inverts the distribution function over its whole range") {
  for (const double p : {1e-300, 1e-20, 1e-6, 0.02, 0.024, 0.025, 0.3, 0.499, 0.6, 0.98}) {
    CAPTURE(p);
    CHECK(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) == Approx(p).epsilon(1e-9));
  }
}

TEST_CASE("the expected maximum of normals") {
  CHECK(expected_normal_maximum(1) == Approx(0.0).margin(1e-9));
  // n = 2: 1/sqrt(pi); n = 3: 3/(2 sqrt(pi))
  const double root_pi = std::sqrt(std::acos(-1.0));
  CHECK(expected_normal_maximum(2) == Approx(1.0 / root_pi).epsilon(1e-9));
  CHECK(expected_normal_maximum(3) == Approx(1.5 / root_pi).epsilon(1e-9));
  // integrated with 30 digits (mpmath)
  CHECK(expected_normal_maximum(10) == Approx(1.5387527308351729).epsilon(1e-9));
  CHECK(expected_normal_maximum(100) == Approx(2.5075936364416844).epsilon(1e-9));
  CHECK(expected_normal_maximum(1000) == Approx(3.2414357691334409).epsilon(1e-9));
  CHECK(expected_normal_maximum(1000000) == Approx(4.8628974861964613).epsilon(1e-9));
}

TEST_CASE("the expected maximum grows with n") {
  for (std::size_t n = 1; n < 2000000; n *= 3) CHECK(expected_normal_maximum(n) < expected_normal_maximum(3 * n));
}

TEST_CASE("quantiles of a sample interpolate between its order statistics") {
  const std::vector<double> sample = {40.0, 10.0, 30.0, 20.0};
  CHECK(quantile(sample, 0.0) == 10.0);
  CHECK(quantile(sample, 1.0) == 40.0);
  CHECK(quantile(sample, 0.5) == Approx(25.0).epsilon(1e-12));
  // position 0.05 * 3 = 0.15 between 10 and 20
  CHECK(quantile(sample, 0.05) == Approx(11.5).epsilon(1e-12));
  CHECK(quantile({7.0}, 0.3) == 7.0);
}

TEST_CASE("log-log interpolation is exact on power laws and flat beyond the ends") {
  // y = 3 x^0.5 at 1, 16, 256
  const std::vector<double> x = {1.0, 16.0, 256.0};
  const std::vector<double> y = {3.0, 12.0, 48.0};
  CHECK(interpolate_log_log(x, y, 4.0) == Approx(6.0).epsilon(1e-12));
  CHECK(interpolate_log_log(x, y, 16.0) == Approx(12.0).epsilon(1e-12));
  CHECK(interpolate_log_log(x, y, 64.0) == Approx(24.0).epsilon(1e-12));
  CHECK(interpolate_log_log(x, y, 0.01) == 3.0);
  CHECK(interpolate_log_log(x, y, 1e9) == 48.0);
  CHECK(interpolate_log_log({5.0}, {2.0}, 7.0) == 2.0);
}
