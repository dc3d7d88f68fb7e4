// Scenarios of the catalogue, for tests of studies.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

inline const calibrate::Catalogue& catalogue() {
  static const calibrate::Catalogue shipped{DataStore{}};
  return shipped;
}

// `model` of the zoo with `micro_batch` samples per GPU on `gpus` GPUs of `machine`, weak scaling.
inline Scenario scenario(const std::string& model, const std::string& machine, std::int64_t gpus,
                         std::int64_t micro_batch, models::Precision precision) {
  Scenario result;
  result.model.name = model;
  result.training.micro_batch = micro_batch;
  result.training.precision = precision;
  result.cluster.machine = machine;
  result.cluster.gpus = gpus;
  return result;
}

}  // namespace foretrain::sim::studies
