// Interval fit: the interval factors that predicted runs support (calibrate/interval_factors.h says what they are).
//
// Runs are classed by software, chip and scale; by software and chip; by software alone. A class of fewer than
// `fewest_runs` has none of its own: its runs fall into the next wider one.
#pragma once

#include <vector>

#include "calibrate/interval_factors.h"
#include "sim/validation.h"

namespace foretrain::sim::studies {

[[nodiscard]] std::vector<calibrate::IntervalFactors> fit_interval_factors(const std::vector<const ValidatedRun*>& runs);

// How often intervals hold whose factors have not seen the run's own source; classes that are then unknown count with
// normal quantiles. By run, in order.
[[nodiscard]] std::vector<bool> held_left_out(const std::vector<const ValidatedRun*>& runs);

}  // namespace foretrain::sim::studies
