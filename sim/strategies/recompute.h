// Recompute: activations that are computed again before their backward pass instead of being kept.
//
//   none       everything is kept
//   selective  attention cores alone, which have most to keep (Korthikanti et al. 2022, arXiv:2205.05198, section 5)
//   full       blocks, or all layers of a model without blocks; of every so many only the first one's input is kept
//              (Chen et al. 2016, arXiv:1604.06174; Megatron-LM's `uniform`)
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

// Marks what is recomputed, each core or layer as a segment of its own. `input_elements`: what goes into the first
// layer. Throws Error for an unknown kind, for selective recompute of a model without attention, and for
// plan.recompute_every without full recompute.
void mark_recompute(LocalModel& model, const Plan& plan, double input_elements);

// The chunk of a pipeline stage, cut out of a marked model whose segments are `whole`: up to `every` neighbouring
// segments become one, numbered from 0 on.
void join_segments(LocalModel& chunk, const std::vector<RecomputeSegment>& whole, std::int64_t every);

}  // namespace foretrain::sim::strategies
