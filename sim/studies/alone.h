// Alone: a scenario's training on one GPU of the same machine, which speedups are over.
#pragma once

#include "sim/scenario.h"
#include "sim/strategies/batches.h"

namespace foretrain::sim::studies {

// One GPU with the whole model, whether it would fit or not: nothing is split, sharded or sent, recompute stays.
// Weak scaling keeps what one copy of the model does per step, strong scaling the global batch; `batches` are the
// scenario's.
[[nodiscard]] Scenario on_one_gpu(Scenario scenario, const strategies::Batches& batches);

}  // namespace foretrain::sim::studies
