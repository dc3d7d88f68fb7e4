#include "sim/studies/run_traits.h"

#include <algorithm>

#include "models/precision.h"
#include "sim/stack_choice.h"

namespace foretrain::sim::studies {
namespace {

double kernels_of_forward(const models::Model& model) {
  double kernels = 0;
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) kernels += op.kernels_forward;
  }
  return kernels;
}

}  // namespace

calibrate::RunTraits traits_of(const Run& run) {
  const Scenario& scenario = run.scenario();
  const models::Model& model = run.model();
  calibrate::RunTraits traits;
  traits.family = model.family;
  traits.stack = run.stack().name;
  traits.chip = run.cluster().device->chip;
  traits.precision = models::to_string(scenario.training.precision);
  traits.network = run.cluster().network == nullptr ? "" : run.cluster().network->name;
  traits.sharding = chosen_sharding(scenario.plan, run.stack());
  traits.schedule = scenario.plan.pipeline > 1 ? scenario.plan.schedule : "none";
  traits.recompute = scenario.plan.recompute;
  traits.gpus = run.cluster().gpus;
  traits.nodes = run.cluster().nodes;
  traits.tensor = scenario.plan.tensor;
  traits.pipeline = scenario.plan.pipeline;
  traits.parameters = models::parameter_count(model) + models::frozen_parameter_count(model);
  traits.tokens_per_pass =
      static_cast<double>(scenario.training.micro_batch) * static_cast<double>(std::max<std::int64_t>(1, model.sequence));
  const double kernels = kernels_of_forward(model);
  if (kernels > 0) {
    traits.flops_per_kernel = models::forward_flops(model).value / static_cast<double>(scenario.plan.tensor) / kernels;
  }
  return traits;
}

}  // namespace foretrain::sim::studies
