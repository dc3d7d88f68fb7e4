// Predict: one scenario in, one prediction out.
//
// One replay gives the step, where its time goes and its critical path; the interval follows from the critical
// path to first order, or from further replays with drawn parameters. The speedup is over one GPU of the same
// machine: weak scaling keeps the work per GPU, strong scaling the global batch. Errors that both runs share
// cancel in it.
#pragma once

#include <cstdint>
#include <functional>

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"
#include "sim/timeline.h"

namespace foretrain::sim::studies {

class Run;

struct PredictOptions {
  bool fold = true;
  bool explain = false;  // fill Prediction::terms
  int replays = 0;       // draws; 0 = first-order interval from the one replay
  std::uint64_t seed = 1;
  // Called with the run and its one replay (a trace shows them).
  std::function<void(const Run&, const Timeline&)> observe = {};
  const Scenario* measured_in = nullptr;  // whose measured steps anchor the prediction; null = the scenario's own
};

[[nodiscard]] Prediction predict(const Scenario& scenario, const calibrate::Catalogue& catalogue,
                                 const PredictOptions& options = {});

}  // namespace foretrain::sim::studies
