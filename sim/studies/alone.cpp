#include "sim/studies/alone.h"

namespace foretrain::sim::studies {

Scenario on_one_gpu(Scenario scenario, const strategies::Batches& batches) {
  scenario.training = strategies::rescaled(scenario.training, batches, 1);
  scenario.cluster.gpus = 1;
  scenario.cluster.straggler_slowdown = 1;
  Plan plan;
  plan.sharding = "none";
  plan.tables = scenario.plan.tables;
  plan.recompute = scenario.plan.recompute;
  plan.recompute_every = scenario.plan.recompute_every;
  scenario.plan = plan;
  return scenario;
}

}  // namespace foretrain::sim::studies
