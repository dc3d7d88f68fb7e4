// Consequences: what a step time means in money, energy and hours.
#pragma once

#include "sim/prediction.h"
#include "sim/studies/replayed.h"

namespace foretrain::sim::studies {

// Fills cost_per_hour, cost, energy, epoch_time and run_time from step_time and throughput, which are already there.
// Cost and energy are per epoch, or per million samples while the dataset's size is not stated.
void fill_consequences(Prediction& prediction, const Replayed& replayed);

}  // namespace foretrain::sim::studies
