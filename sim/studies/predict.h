// Predict: one scenario in, one prediction out.
//
// One replay gives the step, where its time goes and its critical path; the interval follows from the critical
// path to first order, or from further replays with drawn parameters. The speedup is over one GPU of the same
// machine: weak scaling keeps the work per GPU, strong scaling the global batch. Errors that both runs share
// cancel in it.
#pragma once

#include <cstdint>

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

struct PredictOptions {
  bool fold = true;
  bool explain = false;  // fill Prediction::terms
  int replays = 0;       // draws; 0 = first-order interval from the one replay
  std::uint64_t seed = 1;
  const Scenario* measured_in = nullptr;  // whose measured steps anchor the prediction; null = the scenario's own
};

[[nodiscard]] Prediction predict(const Scenario& scenario, const calibrate::Catalogue& catalogue,
                                 const PredictOptions& options = {});

}  // namespace foretrain::sim::studies
