// Plan memory: what a GPU of each pipeline stage holds at most, in closed form, for any plan.
//
// State (parameters, gradients, optimizer) is counted by tensors and divided by the ranks that share it. What passes
// over micro-batches hold follows from the stage's turns (sim/strategies/schedule.h): forward adds what its chunk
// keeps, backward peaks above that and frees it (sim/strategies/chunk_memory.h).
//
//   plan        a rank holds 1/N of …                and besides, at the peak
//   zero1       optimizer state                      –
//   zero2       that and gradients                   a bucket of whole gradients
//   zero3       those and parameters                 gathered units (a block each; the rest is the root, which stays
//                                                    gathered) and whole gradients of the root and of one unit
//   hsdp        as zero3, N being the shard group
// Where micro-batches accumulate without being reduced (FSDP's no_sync), gradients are whole all the same.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/cluster.h"
#include "sim/memory.h"
#include "sim/scenario.h"
#include "sim/strategies/stages.h"

namespace foretrain::sim::strategies {

struct PlanMemory {
  std::vector<MemoryParts> stages;
  std::size_t fullest = 0;
  [[nodiscard]] const MemoryParts& of_fullest() const { return stages[fullest]; }
};

// Throws Error for plans that do not go with the model, the batches or the GPUs.
[[nodiscard]] PlanMemory plan_memory(const std::vector<Stage>& stages, const Scenario& scenario,
                                     const calibrate::Stack& stack, const Cluster& cluster);
// The same of `model`, built for the scenario's micro-batch. Under plan.stage_split "time" stages are cut by FLOPs.
[[nodiscard]] PlanMemory plan_memory(const models::Model& model, const Scenario& scenario,
                                     const calibrate::Stack& stack, const Cluster& cluster);

}  // namespace foretrain::sim::strategies
