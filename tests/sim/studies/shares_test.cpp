#include "sim/studies/shares.h"

#include <cmath>

#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

TEST_CASE("squares of share × spread add") {
  const Effects effects = {{"GEMM", {0.8, 0.05}}, {"network", {0.2, 0.15}}};
  CHECK(log_spread(effects) == Approx(0.05).epsilon(1e-12));  // sqrt(0.04² + 0.03²)
}

TEST_CASE("what two steps share cancels in their ratio") {
  const Effects one_gpu = {{"GEMM", {1.0, 0.10}}};
  const Effects many = {{"GEMM", {0.6, 0.10}}, {"network", {0.4, 0.20}}};
  // GEMM: 0.06 - 0.10 = -0.04, network: 0.08
  CHECK(log_spread_of_ratio(many, one_gpu) == Approx(std::sqrt(0.04 * 0.04 + 0.08 * 0.08)).epsilon(1e-12));
  CHECK(log_spread_of_ratio(many, many) == 0);
}

TEST_CASE("the 90 % interval of a log-normal") {
  const Quantity quantity = log_normal_quantity(2.0, 0.1, "s", "test");
  CHECK(quantity.high == Approx(2.0 * std::exp(0.1644854)).epsilon(1e-6));
  CHECK(quantity.low * quantity.high == Approx(4.0).epsilon(1e-12));
}

TEST_CASE("shares of a critical path add up over entries of one parameter") {
  ParameterTable parameters;
  const ParameterId launch = parameters.add({"launch", 0.2, Provenance::measured, "", 0, ""});
  const ParameterId gemm = parameters.add({"GEMM", 0.1, Provenance::measured, "", 0, ""});
  const Effects effects = effects_of({{launch, 1}, {gemm, 2}, {launch, 1}}, 4, parameters);
  CHECK(effects.at("launch").share == 0.5);
  CHECK(effects.at("GEMM").share == 0.5);
}

}  // namespace
}  // namespace foretrain::sim::studies
