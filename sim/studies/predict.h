// Predict: one scenario in, one prediction out.
#pragma once

#include <cstdint>

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

struct PredictOptions {
  bool fold = true;
  bool explain = false;        // fill Prediction::terms
  int replays = 0;             // draws; 0 = first-order interval from the one replay
  std::uint64_t seed = 1;
};

[[nodiscard]] Prediction predict(const Scenario& scenario, const calibrate::Catalogue& catalogue,
                                 const PredictOptions& options = {});

}  // namespace foretrain::sim::studies
