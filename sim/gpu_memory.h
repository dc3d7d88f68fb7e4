// GPU memory: what one GPU of any plan holds at most, for those who ask for no more.
#pragma once

#include "base/units.h"
#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/cluster.h"
#include "sim/scenario.h"

namespace foretrain::sim {

// Of the fullest pipeline stage; `model` is built for the scenario's micro-batch. Throws Error for plans that do not go
// with the model, the batches or the GPUs.
[[nodiscard]] Bytes gpu_memory(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack,
                               const Cluster& cluster);

}  // namespace foretrain::sim
