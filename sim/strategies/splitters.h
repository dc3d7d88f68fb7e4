// Splitters: the model as one rank of the plan has it.
//
// Applied in this order: kernels fused as the stack fuses them, the vocabulary padded, tables spread, tensor and
// sequence parallelism, recompute. Pipeline stages are cut out last (sim/strategies/stages.h).
#pragma once

#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/scenario.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

// One rank's part of `model` (built for one micro-batch) under the scenario's plan with all pipeline stages in one.
// Stack values: `fused_elementwise`, `vocabulary_multiple`. Throws Error for what cannot be split (heads that do not
// divide, a model without transformer layers under tensor parallelism, …) and for an unknown kind of recompute.
[[nodiscard]] LocalModel split(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack);

}  // namespace foretrain::sim::strategies
