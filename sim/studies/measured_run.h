// Measured run: the run that a measured step of a scenario was.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

struct MeasuredRun {
  Measured measured;
  Scenario scenario;  // `original` on the cluster and with the batches of the measurement
  bool same_machine = false;
};

// The measured step of `original` nearest to what `scenario` asks: the same machine first, then the same kind of GPU,
// the nearest micro-batch, the nearest number of GPUs. `original` must have measured steps. Throws Error when none
// can be one of this training (global batches that do not divide).
[[nodiscard]] MeasuredRun nearest_measured_run(const Scenario& scenario, const Scenario& original,
                                               const calibrate::Catalogue& catalogue);

// The name of the cluster's kind of GPU.
[[nodiscard]] std::string device_of(const ClusterChoice& choice, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
