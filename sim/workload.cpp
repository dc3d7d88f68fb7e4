#include "sim/workload.h"

#include "models/precision.h"

namespace foretrain::sim {

models::Model build_workload(const Scenario& scenario, std::int64_t micro_batch, const DataStore& data) {
  models::ModelSource source = scenario.model;
  source.totals.activation_element_bytes = models::activation_bytes(scenario.training.precision);
  return models::build_model(source, {micro_batch, scenario.training.sequence}, data);
}

}  // namespace foretrain::sim
