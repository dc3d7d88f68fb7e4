// Stages: which layers each pipeline stage has.
//
// Blocks (models::Layer::is_block) are dealt out, what stands before the first of them goes with the first chunk, what
// follows the last with the last; a model without blocks deals out all of its layers. With `interleave` v every stage
// has v chunks: chunk c of stage s is the (c·p + s)-th in forward order, unless the schedule goes through the stages
// otherwise (chunk_after of sim/strategies/schedule.h).
#pragma once

#include <cstddef>
#include <vector>

#include "sim/scenario.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

// The chunks of one stage, in forward order.
using Stage = std::vector<LocalModel>;

// `layer_seconds`: forward plus backward time of each layer, for stages of like time (plan.stage_split "time" cuts
// where the slowest stage is fastest); otherwise numbers of layers differ by at most one, the first ones having more. A
// tied tensor (models::Operator::tied_parameters) whose owner stands on another stage becomes the stage's own. Throws
// Error when there are fewer layers than chunks, or plan.stage_layers do not add up (the first and the last chunk may have
// none: they have the embedding and the head).
[[nodiscard]] std::vector<Stage> stages_of(const LocalModel& model, const Plan& plan,
                                           const std::vector<double>& layer_seconds);

// Parameters of tensors that first and last stage both have (tied embeddings), whose gradients they add up; 0 = none.
[[nodiscard]] double shared_parameters(const std::vector<Stage>& stages);

}  // namespace foretrain::sim::strategies
