#include "sim/workload.h"

#include <utility>

#include "models/precision.h"
#include "sim/tables.h"

namespace foretrain::sim {

models::Model build_workload(const Scenario& scenario, std::int64_t micro_batch, const DataStore& data) {
  models::ModelSource source = scenario.model;
  source.totals.activation_element_bytes = models::activation_bytes(scenario.training.precision);
  models::Model model = models::build_model(source, {micro_batch, scenario.training.sequence}, data);
  if (!spreads_tables(scenario.plan)) return model;
  return with_spread_tables(std::move(model), scenario.cluster.gpus);
}

}  // namespace foretrain::sim
