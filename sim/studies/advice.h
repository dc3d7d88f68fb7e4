// Advice: what to change before buying anything, each change tried on the simulator.
#pragma once

#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

// A change of the scenario that needs no other machine, and how much faster it trains.
struct WhatIf {
  std::string change;
  double gain = 1.0;
};

// Changes that gain at least 5 %, the largest first. `measured_in` as in PredictOptions.
[[nodiscard]] std::vector<WhatIf> what_ifs(const Scenario& scenario, const Prediction& prediction,
                                           const Scenario& measured_in, const calibrate::Catalogue& catalogue);

// The same as sentences about `name`.
[[nodiscard]] std::vector<std::string> advice(const std::string& name, const Scenario& scenario,
                                              const Prediction& prediction, const Scenario& measured_in,
                                              const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
