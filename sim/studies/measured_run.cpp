#include "sim/studies/measured_run.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "sim/strategies/batches.h"

namespace foretrain::sim::studies {
namespace {

// Copies of the model on so many GPUs; 0 = they do not divide.
std::int64_t copies_on(std::int64_t gpus, const Plan& plan) {
  const std::int64_t parts = plan.tensor * plan.pipeline * plan.context;
  return parts > 0 && gpus % parts == 0 ? gpus / parts : 0;
}

bool divides(const Scenario& scenario) {
  const std::int64_t unit = scenario.training.micro_batch * copies_on(scenario.cluster.gpus, scenario.plan);
  return unit > 0 && scenario.training.global_batch % unit == 0;
}

std::string machine_of(const ClusterChoice& choice, const calibrate::Catalogue& catalogue) {
  return choice.machine.empty() ? "" : catalogue.machine(choice.machine, choice.where).name;
}

// The cluster that `measured` was measured on: the original's own, the scenario's, or another of the catalogue.
ClusterChoice measured_cluster(const Measured& measured, const Scenario& scenario, const Scenario& original,
                               const calibrate::Catalogue& catalogue) {
  if (measured.machine.empty()) return original.cluster;
  const std::string name = catalogue.machine(measured.machine, "/measured").name;
  for (const ClusterChoice& choice : {original.cluster, scenario.cluster}) {
    if (name == machine_of(choice, catalogue)) return choice;
  }
  ClusterChoice other;
  other.machine = name;
  return other;
}

MeasuredRun measured_run(const Measured& measured, const Scenario& scenario, const Scenario& original,
                         const calibrate::Catalogue& catalogue) {
  MeasuredRun run;
  run.measured = measured;
  run.scenario = original;
  run.scenario.cluster = measured_cluster(measured, scenario, original, catalogue);
  run.same_machine = machine_of(run.scenario.cluster, catalogue) == machine_of(scenario.cluster, catalogue);
  run.scenario.cluster.gpus = measured.gpus;
  strategies::Batches batches = strategies::resolve_batches(original.training, original.plan, original.cluster.gpus);
  if (measured.micro_batch > 0) batches.micro = measured.micro_batch;
  run.scenario.training = strategies::rescaled(original.training, batches, copies_on(measured.gpus, original.plan));
  run.scenario.training.micro_batch = batches.micro;
  return run;
}

}  // namespace

std::string device_of(const ClusterChoice& choice, const calibrate::Catalogue& catalogue) {
  if (choice.gpu) return catalogue.device(*choice.gpu, choice.where).name;
  return catalogue.device(catalogue.machine(choice.machine, choice.where).device).name;
}

MeasuredRun nearest_measured_run(const Scenario& scenario, const Scenario& original,
                                 const calibrate::Catalogue& catalogue) {
  using Distance = std::tuple<bool, bool, double, double>;
  const std::string device = device_of(scenario.cluster, catalogue);
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
  };
  std::optional<MeasuredRun> best;
  Distance best_distance;
  for (const Measured& measured : original.measured) {
    MeasuredRun run = measured_run(measured, scenario, original, catalogue);
    if (!divides(run.scenario)) continue;
    const Distance distance{!run.same_machine, device_of(run.scenario.cluster, catalogue) != device,
                            ratio(run.scenario.training.micro_batch, scenario.training.micro_batch),
                            ratio(run.scenario.cluster.gpus, scenario.cluster.gpus)};
    if (best && best_distance <= distance) continue;
    best = std::move(run);
    best_distance = distance;
  }
  if (!best) {
    throw Error(
        "no measured step can be one of this training: the global batch is no multiple of its "
        "micro-batch × GPUs",
        "/measured", "state measured.gpus and measured.micro_batch of a step with the scenario's global batch");
  }
  return *best;
}

}  // namespace foretrain::sim::studies
