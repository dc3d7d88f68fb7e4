// Scaling interval: how far a predicted speedup may be off, wider downwards than upwards.
//
// Real jobs fail to scale far more often than they beat a model of them, and the more the more scaling loss is
// predicted. So the interval has two parts: the parameters of the simulation, to first order and symmetric, and an
// unexplained loss w = floor + slope · (1 − efficiency), of which the 5 % quantile lies `below`·w under the value and
// the 95 % quantile `above`·w over it (in logarithms; values of the stack, scaled by a factor of stack, network or
// PCIe node, whichever is largest).
#pragma once

#include "sim/studies/run.h"

namespace foretrain::sim::studies {

struct ScalingLoss {
  double floor = 0, slope = 0, below = 0, above = 0, factor = 1;
};

// Of a run of several GPUs; of one GPU there is no loss.
[[nodiscard]] ScalingLoss scaling_loss(const Run& run, const calibrate::Catalogue& catalogue);

// Distances of the 5 % and 95 % quantiles from the value, in logarithms, both positive.
struct LogInterval {
  double below = 0, above = 0;
};
// Of a speedup over another run, with the symmetric spread that `log_spread` parameters give both (one standard
// deviation) and the efficiency of the larger run relative to the other.
[[nodiscard]] LogInterval scaling_interval(const ScalingLoss& loss, double log_spread, double efficiency);

}  // namespace foretrain::sim::studies
