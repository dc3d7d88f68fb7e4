// Quantities: every number of a prediction under its dotted key, in the order of the result file.
#pragma once

#include <vector>

#include "sim/prediction.h"

namespace foretrain::reports {

// "step_time", "breakdown.forward", "memory.total", …: the keys are those of the JSON result.
[[nodiscard]] std::vector<sim::NamedQuantity> flat_quantities(const sim::Prediction& prediction);

}  // namespace foretrain::reports
