#include "sim/studies/replayed.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/breakdown.h"
#include "sim/strategies/plan_memory.h"
#include "sim/studies/alone.h"
#include "sim/studies/anchor.h"
#include "sim/studies/known_work.h"
#include "sim/workload.h"

namespace foretrain::sim::studies {
namespace {

// What the model leaves out differs from one kind of run to the next, and is the same whenever the same run is
// asked about again: hence its name.
Parameter unmodelled_effects(const Run& run) {
  const calibrate::StackValue& spread = run.stack().at("unmodelled_spread");
  const Cluster& cluster = run.cluster();
  return {fmt::format("effects outside the model ({} × {}, {})", cluster.gpus,
                      cluster.machine.name.empty() ? cluster.device->name : cluster.machine.name, run.stack().name),
          spread.value,
          spread.provenance,
          spread.source,
          spread.value,
          spread.unit};
}

ReplayedRun make_ready(const Scenario& scenario, const calibrate::Catalogue& catalogue, const Anchor& anchor,
                       const RunOptions& options, ParameterTable& parameters) {
  ReplayedRun ready;
  ready.run = std::make_unique<Run>(scenario, catalogue, anchor, options, parameters);
  ready.unmodelled = parameters.add(unmodelled_effects(*ready.run));
  return ready;
}

void replay(ReplayedRun& ready) {
  ready.timeline = ready.run->replay();
  ready.critical = critical_path(ready.run->job(), ready.timeline);
  if (ready.unmodelled_share > 0) ready.critical.push_back({ready.unmodelled, ready.step_seconds()});
}

// The most samples at a time that one GPU can do of the global batch: what is shared out under strong scaling
// leaves each rank a small micro-batch that nobody would train with alone.
std::int64_t micro_batch_alone(const Run& run, std::int64_t accumulation, const DataStore& data) {
  const std::int64_t micro = run.batches().micro;
  const Scenario alone = on_one_gpu(run.scenario(), run.batches());
  Cluster one_gpu = run.cluster();
  one_gpu.gpus = one_gpu.nodes = 1;
  std::int64_t best = micro;
  for (std::int64_t pieces = accumulation; pieces >= 1; --pieces) {
    if (accumulation % pieces != 0) continue;
    const std::int64_t larger = micro * (accumulation / pieces);
    Scenario with_larger = alone;
    with_larger.training.micro_batch = larger;
    const models::Model model = build_workload(with_larger, larger, data);
    const strategies::PlanMemory memory = strategies::plan_memory(model, with_larger, run.stack(), one_gpu);
    if (memory.of_fullest().total() > run.cluster().device->memory) break;
    best = larger;
  }
  return best;
}

Scenario one_gpu_of_the_same_machine(const Run& run, const DataStore& data) {
  Scenario alone = on_one_gpu(run.scenario(), run.batches());
  if (alone.training.scaling == Scaling::strong) {
    alone.training.micro_batch = micro_batch_alone(run, alone.training.global_batch / run.batches().micro, data);
  }
  return alone;
}

}  // namespace

double ReplayedRun::samples_per_second() const { return run->samples_per_second(timeline); }

double Replayed::speedup() const {
  return reference.run ? main.samples_per_second() / reference.samples_per_second() : 1.0;
}

std::unique_ptr<Replayed> replay_scenario(const Scenario& asked, const calibrate::Catalogue& catalogue,
                                          const PredictOptions& options) {
  auto result = std::make_unique<Replayed>();
  const Scenario& stated = options.measured_in != nullptr ? *options.measured_in : asked;
  const Scenario original = with_known_work(stated, stated, catalogue);
  const Scenario scenario = with_known_work(asked, stated, catalogue);
  result->anchor = find_anchor(scenario, original, catalogue);
  result->main = make_ready(scenario, catalogue, result->anchor, {options.fold, options.explain}, result->parameters);
  if (result->anchor.is_the_measured_run) result->main.unmodelled_share = 0;
  if (result->main.run->cluster().gpus > 1) {
    const Scenario alone = one_gpu_of_the_same_machine(*result->main.run, catalogue.data());
    result->reference = make_ready(alone, catalogue, result->anchor, {}, result->parameters);
    replay(result->reference);
  }
  replay(result->main);
  result->instance = result->main.timeline.longest.instance;
  result->breakdown = breakdown(result->main.run->job(), result->main.timeline, result->instance);
  result->kinds = critical_kinds(result->main.run->job(), result->main.timeline);
  return result;
}

std::vector<DrawnStep> drawn_step_seconds(const ReplayedRun& run, const ParameterTable& parameters, int replays,
                                       std::uint64_t seed) {
  std::vector<DrawnStep> seconds;
  for (int i = 0; i < replays; ++i) {
    const Draw draw = random_draw(parameters, seed, static_cast<std::uint64_t>(i));
    const double unmodelled = std::pow(draw[run.unmodelled.index], run.unmodelled_share);
    const double simulated = run.run->replay(&draw).step_seconds;
    seconds.push_back({simulated, simulated * unmodelled});
  }
  return seconds;
}

}  // namespace foretrain::sim::studies
