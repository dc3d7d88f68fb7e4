// Workload: the scenario's model, built for its micro-batch.
#pragma once

#include <cstdint>

#include "base/data.h"
#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim {

// The model for `micro_batch` samples at the scenario's sequence length and precision.
[[nodiscard]] models::Model build_workload(const Scenario& scenario, std::int64_t micro_batch, const DataStore& data);

}  // namespace foretrain::sim
