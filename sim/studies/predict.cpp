#include "sim/studies/predict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/statistics.h"
#include "sim/studies/consequences.h"
#include "sim/studies/parts.h"
#include "sim/studies/replayed.h"

namespace foretrain::sim::studies {
namespace {

// The interval becomes the 5 % and 95 % quantiles of the sample.
void take_quantiles(Quantity& quantity, const std::vector<double>& sample) {
  quantity.low = quantile(sample, 0.05);
  quantity.high = quantile(sample, 0.95);
}

void fill_times(Prediction& prediction, const Replayed& replayed, const PredictOptions& options) {
  const Effects main = effects_of(replayed.main.critical, replayed.main.step_seconds(), replayed.parameters);
  const Effects reference = replayed.reference.run ? effects_of(replayed.reference.critical,
                                                                replayed.reference.step_seconds(), replayed.parameters)
                                                   : main;
  std::string provenance = options.replays > 0 ? fmt::format("simulated, interval from {} draws", options.replays)
                                               : "simulated, first-order interval";
  if (!replayed.anchor.note.empty()) provenance += "; " + replayed.anchor.note;
  Quantity& step = prediction.step_time;
  step = log_normal_quantity(replayed.main.step_seconds(), log_spread(main), "s", provenance);
  prediction.speedup = log_normal_quantity(replayed.speedup(), log_spread_of_ratio(main, reference), "1", provenance);
  if (options.replays > 0) {
    const auto drawn = [&](const ReplayedRun& run) {
      return drawn_step_seconds(run, replayed.parameters, options.replays, options.seed);
    };
    const std::vector<double> steps = drawn(replayed.main);
    take_quantiles(step, steps);
    if (replayed.reference.run) {
      std::vector<double> speedups = drawn(replayed.reference);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const double slowdown_of_one = speedups[i] / replayed.reference.step_seconds();
        speedups[i] = replayed.speedup() * slowdown_of_one / (steps[i] / step.value);
      }
      take_quantiles(prediction.speedup, speedups);
    }
  }
  const auto samples = static_cast<double>(replayed.main.run->batches().global);
  prediction.throughput = {samples / step.value, samples / step.high, samples / step.low,
                           "samples/s",          provenance,          true};
  const double one_gpu = replayed.reference.run ? replayed.reference.samples_per_second() : prediction.throughput.value;
  prediction.one_gpu_throughput = log_normal_quantity(one_gpu, log_spread(reference), "samples/s", provenance);
  const double gpus = replayed.main.run->cluster().gpus;
  // N GPUs do at most N times what one does: beyond that the interval is only how little is known.
  Quantity& speedup = prediction.speedup;
  speedup.high = std::max(speedup.value, std::min(speedup.high, gpus));
  prediction.efficiency = {speedup.value / gpus, speedup.low / gpus, speedup.high / gpus, "1", provenance, true};
}

void fill_parameters(Prediction& prediction, const Replayed& replayed) {
  for (const CriticalShare& part : replayed.main.critical) {
    if (part.seconds > 0) prediction.parameters.push_back({replayed.parameters.at(part.parameter), part.seconds});
  }
  const auto effect = [](const ParameterShare& part) { return part.critical_seconds * part.parameter.relative_spread; };
  std::stable_sort(prediction.parameters.begin(), prediction.parameters.end(),
                   [&](const ParameterShare& a, const ParameterShare& b) { return effect(a) > effect(b); });
}

}  // namespace

Prediction predict(const Scenario& scenario, const calibrate::Catalogue& catalogue, const PredictOptions& options) {
  const std::unique_ptr<Replayed> replayed = replay_scenario(scenario, catalogue, options);
  const Run& run = *replayed->main.run;
  Prediction prediction;
  prediction.data_parallel = run.batches().data_parallel;
  prediction.accumulation = run.batches().accumulation;
  prediction.global_batch = run.batches().global;
  prediction.nodes = run.cluster().nodes;
  prediction.events = replayed->main.timeline.events;
  fill_times(prediction, *replayed, options);
  fill_parameters(prediction, *replayed);
  prediction.breakdown = breakdown_quantities(*replayed, prediction.step_time);
  prediction.gradients = gradient_exchange(*replayed);
  fill_binding(prediction, *replayed);
  prediction.memory = memory_answer(run, catalogue.data());
  fill_consequences(prediction, *replayed);
  fill_warnings(prediction, *replayed);
  if (options.explain) {
    prediction.terms = run.composed().terms;
    const std::vector<Term> collectives = run.collective_terms();
    prediction.terms.insert(prediction.terms.end(), collectives.begin(), collectives.end());
  }
  return prediction;
}

}  // namespace foretrain::sim::studies
