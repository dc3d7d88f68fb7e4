// Sharded state: data-parallel ranks that each keep a part of what otherwise all of them hold.
//
//   zero1  optimizer state (Rajbhandari et al. 2019, arXiv:1910.02054; Megatron-LM's distributed optimizer)
//   zero2  gradients too
//   zero3  parameters too (PyTorch FullyShardedDataParallel)
//   hsdp   zero3 within groups of plan.shard_group ranks, replicas between the groups
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "calibrate/stack.h"
#include "sim/scenario.h"
#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {

// Throws Error when the chosen sharding is unknown, or does not go with the reducer, the compression, the stack or the
// pipeline; on any number of GPUs.
void require_known_sharding(const Scenario& scenario, const calibrate::Stack& stack);

// How many of `data_parallel` ranks share one copy of the state; 1 where nothing is sharded. Throws Error for a shard
// group that does not divide them.
[[nodiscard]] int shard_ranks(const Plan& plan, const calibrate::Stack& stack, int data_parallel, int gpus_per_node);

// Whether gradients are summed up over micro-batches part by part, after their reduction, and never whole: with zero2
// and DeepSpeed's zero3 by their nature. FSDP may leave out the reduction (no_sync) and keep them whole instead: with a
// stack that shards parameters of its own accord `synchronize_every_micro_batch` decides.
[[nodiscard]] bool keeps_gradients_in_parts(const Plan& plan, const calibrate::Stack& stack);

// Whether a rank's part of the parameters lies in four bytes and is cast before each gather (FSDP's mixed precision);
// else the update writes weights of two bytes beside its main copy, as without sharding.
[[nodiscard]] bool casts_parts_for_gathers(const Plan& plan, const calibrate::Stack& stack);

// The reducer of the chosen sharding, which is not "none", for a job of several data-parallel ranks. Throws as the two
// above.
[[nodiscard]] std::unique_ptr<Reducer> make_sharded_reducer(StepWriter& writer);

}  // namespace foretrain::sim::strategies
