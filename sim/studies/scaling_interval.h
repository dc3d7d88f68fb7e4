// Scaling interval: how far a predicted speedup may be off, wider downwards than upwards.
//
// Real jobs fail to scale far more often than they beat a model of them, and the more the more scaling loss is
// predicted. So the interval has two parts: the parameters of the simulation, to first order and symmetric, and an
// unexplained loss w = floor + slope · (1 − efficiency), of which the 5 % quantile lies `below`·w under the value and
// the 95 % quantile `above`·w over it (in logarithms; values of the stack, scaled by a factor of stack, network or
// PCIe node, whichever is largest).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "calibrate/interval_factors.h"
#include "sim/prediction.h"
#include "sim/studies/run.h"

namespace foretrain::sim::studies {

struct ScalingLoss {
  double floor = 0, slope = 0, below = 0, above = 0, factor = 1;
};

// Of a run of several GPUs; of one GPU there is no loss.
[[nodiscard]] ScalingLoss scaling_loss(const Run& run, const calibrate::Catalogue& catalogue);

// The unexplained part alone, at `efficiency` of the run relative to the one it is compared with.
[[nodiscard]] LogMargins unexplained_margins(const ScalingLoss& loss, double efficiency);

// Of a step's time: how far it may lie below and above the predicted one, in logarithms. `factors` are those learnt on
// measured runs like this one (nothing: normal quantiles); `repeat_spread` is how well steps repeat at all, and so the
// least that a margin can be.
struct StepMargins {
  double below = 0, above = 0;
};
[[nodiscard]] StepMargins step_margins(double log_spread, const std::optional<calibrate::IntervalFactors>& factors,
                                       double repeat_spread);

// The shortest interval around zero that holds ⌈0.9 (n + 1)⌉ of n deviations, or all of them where that is more.
[[nodiscard]] StepMargins shortest_margins(std::vector<double> deviations);

// Margins of a value with two independent causes.
[[nodiscard]] LogMargins together(const LogMargins& a, const LogMargins& b);
// The symmetric margins of one standard deviation `log_spread`.
[[nodiscard]] LogMargins symmetric_margins(double log_spread);

// `value` within its margins; a time has those of its rate the other way round.
[[nodiscard]] Quantity rate_quantity(double value, const LogMargins& margins, const std::string& unit,
                                     const std::string& provenance);
[[nodiscard]] Quantity time_quantity(double value, const LogMargins& margins, const std::string& provenance);

// Probability that a ratio of rates is above one: normal on either side of the value, each with its own margin.
[[nodiscard]] double odds_above_one(double ratio, const LogMargins& margins);

}  // namespace foretrain::sim::studies
