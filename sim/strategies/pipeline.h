// Pipeline: the turns of one stage's schedule as activities: passes over its chunks, and what goes between stages.
//
// Passes are blocks (chunk.h). Written in detail are those that a reducer works beside, the first forward and the last
// backward pass of every chunk, and all of them in a step of few micro-batches (ComposeInput::explicit_micro_batches).
// Results go to the next stage on streams of their own, received ahead of their turn, in the order in which they are
// sent; where the stack does not overlap transfers, the turn after a pass waits until its result has been sent.
// Gradients of all micro-batches are added up before they are reduced.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategies/chunk.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/stages.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

struct PipelineWork {
  std::int64_t micro_batches = 1;
  const std::vector<Stage>& stages;
  Reducer* reducer = nullptr;  // null where nothing is shared
};

// Writes the whole step of the writer's stage by the plan's schedule: turns, transfers, what the reducer does with the
// gradients, the sum of shared tables' gradients, the update. `chunks` are the stage's, in forward order. Throws as
// require_schedule.
void write_pipeline(StepWriter& writer, std::vector<Chunk>& chunks, const PipelineWork& work);

}  // namespace foretrain::sim::strategies
