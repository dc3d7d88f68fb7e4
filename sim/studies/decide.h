// Decide: will distribution help, how far, and what is the simplest thing to run?
//
// Compares the base with every option under shared draws and names the simplest option whose gain is
// not inside the interval of a bigger one. Simpler means, in this order: one GPU before several, one node
// before several, independent runs where the question allows, fewer GPUs.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"
#include "sim/studies/predict.h"

namespace foretrain::sim::studies {

[[nodiscard]] Decision decide(const Question& question, const calibrate::Catalogue& catalogue,
                              const PredictOptions& options = {});

}  // namespace foretrain::sim::studies
