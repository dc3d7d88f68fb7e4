// Pipeline: the turns of one stage's schedule as activities: passes over its chunks, and what goes between stages.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategies/chunk.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

struct PipelineWork {
  std::int64_t micro_batches = 1;
  double shared_parameters = 0;  // of tables that first and last stage both have (stages.h)
  Reducer* reducer = nullptr;    // null where nothing is shared
};

// Writes the whole step of the writer's stage by the plan's schedule: turns, transfers, what the reducer does with the
// gradients, the sum of shared tables' gradients, the update. `chunks` are the stage's, in forward order.
void write_pipeline(StepWriter& writer, std::vector<Chunk>& chunks, const PipelineWork& work);

}  // namespace foretrain::sim::strategies
