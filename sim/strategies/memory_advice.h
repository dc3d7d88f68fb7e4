// Memory advice: what to change when a plan does not fit.
#pragma once

#include <string>

#include "base/data.h"
#include "sim/strategies/plan_memory.h"

namespace foretrain::sim::strategies {

// Names the largest category of the fullest stage, and the smallest change with which the plan fits into the cluster's
// GPUs: tried in the order of how little it disturbs a run, by plan_memory(), each by itself and then all up to it
// together:
//   a smaller micro-batch, recompute of the attention core, of whole layers; optimizer state, gradients and parameters
//   in shards; tensor parallelism of twice as many GPUs of a node; twice as many pipeline stages; more GPUs
// Changes that the plan, the model, the batches or the stack do not allow are left out.
[[nodiscard]] std::string memory_advice(const PlanMemory& memory, const Scenario& scenario,
                                        const calibrate::Stack& stack, const Cluster& cluster, const DataStore& data);

}  // namespace foretrain::sim::strategies
