// Decide: will distribution help, how far, and what is the simplest thing to run?
//
// Compares the base with every option: errors that both share cancel in the gain. Names the simplest option that is
// clearly faster and worth its GPUs, says what bigger ones buy and cost, and what to change before buying anything.
// Simpler means, in this order: one GPU before several, one node before several, fewer GPUs. A question without
// options compares the base with one GPU of its machine.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"
#include "sim/studies/predict.h"

namespace foretrain::sim::studies {

// Throws Error for a question without options about one GPU: there is nothing to compare.
[[nodiscard]] Decision decide(const Question& question, const calibrate::Catalogue& catalogue,
                              const PredictOptions& options = {});

}  // namespace foretrain::sim::studies
