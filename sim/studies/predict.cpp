#include "sim/studies/predict.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/statistics.h"
#include "sim/stack_choice.h"
#include "sim/studies/consequences.h"
#include "sim/studies/nearest_runs.h"
#include "sim/studies/parts.h"
#include "sim/studies/replayed.h"
#include "sim/studies/run_traits.h"
#include "sim/studies/scaling_interval.h"
#include "sim/studies/track_record.h"

namespace foretrain::sim::studies {
namespace {

// What the parameters say of a ratio of two runs; what lies outside the model is the unexplained loss's part.
double parameter_spread_of_ratio(const Replayed& replayed, const Effects& main, const Effects& reference) {
  const auto without = [&](Effects effects, const ReplayedRun& run) {
    effects.erase(replayed.parameters.at(run.unmodelled).name);
    return effects;
  };
  return log_spread_of_ratio(without(main, replayed.main), without(reference, replayed.reference));
}

// What the parameters leave open, as margins of the rates.
struct ParameterMargins {
  LogMargins throughput, speedup;
};

ParameterMargins first_order_margins(const Replayed& replayed, const Effects& main, const Effects& reference) {
  ParameterMargins margins;
  margins.throughput = symmetric_margins(log_spread(main));
  if (replayed.reference.run) {
    margins.speedup = symmetric_margins(parameter_spread_of_ratio(replayed, main, reference));
  }
  return margins;
}

// Margins of the throughput where runs like this one were measured: those of its parameters, times what deviations from
// measured steps were in units of them. Nothing of an anchored run, which rests on a measurement of its own.
std::optional<LogMargins> learnt_margins(const Replayed& replayed, const LogMargins& of_parameters,
                                         const calibrate::Catalogue& catalogue) {
  if (!replayed.anchor.note.empty()) return std::nullopt;
  const Run& run = *replayed.main.run;
  const auto factors = calibrate::factors_for(catalogue.interval_factors(), traits_of(run));
  if (!factors) return std::nullopt;
  const double repeat = run.stack().at("repeat_spread").value;
  // A rate lies above its value where the time lies below.
  LogMargins margins{step_margins(of_parameters.below / half_width_90(), factors, repeat).above,
                     step_margins(of_parameters.above / half_width_90(), factors, repeat).below};
  if (const auto beyond = margins_beyond(catalogue.predicted_runs(), traits_of(run))) {
    margins = {std::max(margins.below, beyond->above), std::max(margins.above, beyond->below)};
  }
  return margins;
}

// Of a rate, from a sample of the times (relative to that of the value) that stand behind it.
LogMargins margins_of(const std::vector<double>& relative_times) {
  return {std::max(0.0, std::log(quantile(relative_times, 0.95))),
          std::max(0.0, -std::log(quantile(relative_times, 0.05)))};
}

ParameterMargins drawn_margins(const Replayed& replayed, const PredictOptions& options) {
  const auto drawn = [&](const ReplayedRun& run) {
    return drawn_step_seconds(run, replayed.parameters, options.replays, options.seed);
  };
  const std::vector<DrawnStep> main = drawn(replayed.main);
  std::vector<double> times;
  for (const DrawnStep& step : main) times.push_back(step.all / replayed.main.step_seconds());
  ParameterMargins margins;
  margins.throughput = margins_of(times);
  if (!replayed.reference.run) return margins;
  const std::vector<DrawnStep> alone = drawn(replayed.reference);
  const double ratio = replayed.main.step_seconds() / replayed.reference.step_seconds();
  for (std::size_t i = 0; i < main.size(); ++i) times[i] = main[i].simulated / alone[i].simulated / ratio;
  margins.speedup = margins_of(times);
  return margins;
}

void fill_times(Prediction& prediction, const Replayed& replayed, const calibrate::Catalogue& catalogue,
                const PredictOptions& options) {
  const Effects main = effects_of(replayed.main.critical, replayed.main.step_seconds(), replayed.parameters);
  const Effects reference = replayed.reference.run ? effects_of(replayed.reference.critical,
                                                                replayed.reference.step_seconds(), replayed.parameters)
                                                   : main;
  std::string provenance = options.replays > 0 ? fmt::format("simulated, interval from {} draws", options.replays)
                                               : "simulated, first-order interval";
  if (!replayed.anchor.note.empty()) provenance += "; " + replayed.anchor.note;
  const double gpus = replayed.main.run->cluster().gpus;
  const double speedup = replayed.speedup();
  // A measured run has lost what it lost.
  if (!replayed.anchor.is_the_measured_run) {
    prediction.unexplained_loss = unexplained_margins(scaling_loss(*replayed.main.run, catalogue), speedup / gpus);
  }
  const ParameterMargins parameters =
      options.replays > 0 ? drawn_margins(replayed, options) : first_order_margins(replayed, main, reference);
  // The very step that was measured is known as well as steps repeat.
  const std::optional<LogMargins> learnt = learnt_margins(replayed, parameters.throughput, catalogue);
  const LogMargins rate_margins = replayed.anchor.is_the_measured_run
                                      ? symmetric_margins(replayed.main.run->stack().at("step_jitter").value)
                                  : learnt ? *learnt
                                           : together(prediction.unexplained_loss, parameters.throughput);
  if (learnt) provenance += ", widened to what held 90 % of measured runs like this";
  prediction.step_time = time_quantity(replayed.main.step_seconds(), rate_margins, provenance);
  prediction.throughput = rate_quantity(replayed.main.samples_per_second(), rate_margins, "samples/s", provenance);
  prediction.speedup =
      rate_quantity(speedup, together(prediction.unexplained_loss, parameters.speedup), "1", provenance);
  const double one_gpu = replayed.reference.run ? replayed.reference.samples_per_second() : prediction.throughput.value;
  prediction.one_gpu_throughput = log_normal_quantity(one_gpu, log_spread(reference), "samples/s", provenance);
  // N GPUs do at most N times what one does: beyond that the interval is only how little is known.
  Quantity& interval = prediction.speedup;
  interval.high = std::max(interval.value, std::min(interval.high, gpus));
  prediction.efficiency = {speedup / gpus, interval.low / gpus, interval.high / gpus, "1", provenance, true};
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
  if (replayed->reference.run) {
    const Run& alone = *replayed->reference.run;
    prediction.one_gpu_fits = alone.memory().total() <= alone.cluster().device->memory;
  }
  prediction.sharding = chosen_sharding(run.scenario().plan, run.stack());
  prediction.events = replayed->main.timeline.events;
  fill_times(prediction, *replayed, catalogue, options);
  fill_parameters(prediction, *replayed);
  prediction.breakdown = breakdown_quantities(*replayed, prediction.step_time);
  prediction.gradients = gradient_exchange(*replayed);
  fill_binding(prediction, *replayed);
  prediction.memory = memory_answer(run, catalogue.data());
  fill_consequences(prediction, *replayed);
  prediction.track_record = track_record_of(run, catalogue);
  prediction.run_record = nearest_runs(catalogue.predicted_runs(), traits_of(run));
  fill_warnings(prediction, *replayed);
  if (options.observe) options.observe(run, replayed->main.timeline);
  if (options.explain) {
    prediction.terms = run.terms(replayed->instance);
  }
  return prediction;
}

}  // namespace foretrain::sim::studies
