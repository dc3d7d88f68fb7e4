#include "sim/studies/scaling_interval.h"

#include <cmath>

#include "sim/studies/predict.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

TEST_CASE("the unexplained loss grows with the loss that is predicted") {
  const ScalingLoss loss{0.025, 0.3, 3.4, 1.6, 1};
  // w = 0.025 + 0.3 · 0.1 = 0.055: 0.187 below and 0.088 above, in logarithms.
  const LogMargins at_90_percent = unexplained_margins(loss, 0.9);
  CHECK(at_90_percent.below == Approx(0.187));
  CHECK(at_90_percent.above == Approx(0.088));
  CHECK(unexplained_margins(loss, 1.0).below == Approx(3.4 * 0.025));
  CHECK(unexplained_margins(loss, 1.3).below == Approx(3.4 * 0.025));  // beyond ideal nothing is lost
}

TEST_CASE("independent margins add in squares, each side by itself") {
  const LogMargins both = together({0.3, 0.4}, {0.4, 0.3});
  CHECK(both.below == Approx(0.5));
  CHECK(both.above == Approx(0.5));
}

TEST_CASE("a time has the margins of its rate the other way round") {
  const LogMargins margins{std::log(2.0), std::log(1.25)};
  const Quantity rate = rate_quantity(100, margins, "samples/s", "");
  CHECK(rate.low == Approx(50));
  CHECK(rate.high == Approx(125));
  const Quantity time = time_quantity(1, margins, "");
  CHECK(time.high == Approx(2));
  CHECK(time.low == Approx(0.8));
}

TEST_CASE("a ratio at its 5 % quantile is above one with odds of 95 %") {
  CHECK(odds_above_one(2, {std::log(2.0), 0.1}) == Approx(0.95).epsilon(1e-6));
  CHECK(odds_above_one(0.5, {0.1, std::log(2.0)}) == Approx(0.05).epsilon(1e-6));
  CHECK(odds_above_one(1, {0.2, 0.1}) == Approx(0.5));
  CHECK(odds_above_one(1.1, {0, 0}) == 1);
}

TEST_CASE("a speedup's interval reaches further down than up, and one GPU has none") {
  const Prediction eight = predict(scenario("resnet50", "Standard_ND96amsr_A100_v4", 8, 64, Precision::fp16), catalogue());
  CHECK(std::log(eight.speedup.value / eight.speedup.low) > std::log(eight.speedup.high / eight.speedup.value));
  CHECK(eight.unexplained_loss.below > 0);
  const Prediction one = predict(scenario("resnet50", "Standard_ND96amsr_A100_v4", 1, 64, Precision::fp16), catalogue());
  CHECK(one.unexplained_loss.below == 0);
}

TEST_CASE("slow networks and PCIe nodes lose less predictably") {
  const auto factor = [](const Scenario& asked) {
    ParameterTable parameters;
    const Run run(asked, catalogue(), {}, {}, parameters);
    return scaling_loss(run, catalogue()).factor;
  };
  Scenario asked = scenario("resnet50", "p3.16xlarge", 16, 64, Precision::fp16);
  CHECK(factor(asked) == catalogue().network("ena-tcp").scaling_loss_factor);
  asked.cluster.gpus = 8;
  CHECK(factor(asked) == 1);
  CHECK(factor(scenario("resnet50", "p2.8xlarge", 8, 32, Precision::fp32)) ==
        catalogue().collective_constants().pcie_scaling_loss_factor);
}

}  // namespace
}  // namespace foretrain::sim::studies
