#include "sim/studies/anchor.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/stack_choice.h"
#include "sim/studies/alone.h"
#include "sim/studies/measured_run.h"
#include "sim/studies/shares.h"
#include "sim/studies/solve.h"

namespace foretrain::sim::studies {
namespace {

// Passes of stages and parts of layers stand as blocks, in which a kernel may begin later than its launch: they are put
// together anew for every factor. All else is replayed with its parameter drawn.
std::optional<double> scale_of(const MeasuredRun& run, const calibrate::Catalogue& catalogue) {
  Anchor probe;
  probe.parameter = Parameter{"anchor probe", 0, Provenance::given, "", 1, ""};
  const Plan& plan = run.scenario.plan;
  if (plan.pipeline > 1 || plan.tensor > 1) {
    const auto composed = [&](double factor) {
      probe.compute_scale = factor;
      ParameterTable parameters;
      return Run(run.scenario, catalogue, probe, {}, parameters).replay().step_seconds;
    };
    return solve_rising(composed, run.measured.step_seconds);
  }
  ParameterTable parameters;
  const Run ready(run.scenario, catalogue, probe, {}, parameters);
  const ParameterId scaled = parameters.add(*probe.parameter);
  const auto drawn = [&](double factor) {
    Draw draw = neutral_draw(parameters);
    draw[scaled.index] = factor;
    return ready.replay(&draw).step_seconds;
  };
  return solve_rising(drawn, run.measured.step_seconds);
}

double solve_scale(const MeasuredRun& run, const calibrate::Catalogue& catalogue) {
  const std::optional<double> scale = scale_of(run, catalogue);
  if (scale) return *scale;
  throw Error("the measured step is shorter than its input pipeline and communication alone", "/measured",
              fmt::format("check step_seconds ({} on {} GPUs), and the rates of input and cluster",
                          format_time(Seconds(run.measured.step_seconds)), run.measured.gpus));
}

// What the unanchored step of one GPU rests on, without input: the calibration of device and stack.
Effects own_effects(const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  Scenario alone = on_one_gpu(
      scenario, strategies::resolve_batches(scenario.training, scenario.plan, scenario.cluster.gpus));
  alone.input = InputPipeline{};
  ParameterTable parameters;
  const Run run(alone, catalogue, {}, {}, parameters);
  const Timeline timeline = run.replay();
  return effects_of(critical_path(run.job(), timeline), timeline.step_seconds, parameters);
}

// How far the ratio of both steps may be off, and how well a step can be measured: to the stack's jitter.
double carrying_spread(const Scenario& from, const Scenario& to, const calibrate::Catalogue& catalogue) {
  const double repeat = chosen_stack(to.stack, catalogue).at("step_jitter").value;
  return std::hypot(repeat, log_spread_of_ratio(own_effects(from, catalogue), own_effects(to, catalogue)));
}

bool is_same_stack(const StackChoice& a, const StackChoice& b) {
  return a.name == b.name && a.reducer == b.reducer && a.compression == b.compression && a.options == b.options;
}

}  // namespace

SolvedAnchor solve_anchor(const MeasuredRun& run, const calibrate::Catalogue& catalogue) {
  return {run, solve_scale(run, catalogue)};
}

Anchor anchor_for(const Scenario& scenario, const SolvedAnchor& solved, const calibrate::Catalogue& catalogue) {
  const MeasuredRun& run = solved.run;
  Anchor anchor;
  const auto described = [&](const Scenario& which) {
    return device_of(which.cluster, catalogue) + " in " + models::to_string(which.training.precision);
  };
  const std::string from = described(run.scenario), to = described(scenario);
  const bool same_micro_batch = run.scenario.training.micro_batch == scenario.training.micro_batch;
  anchor.compute_scale = solved.compute_scale;
  anchor.note = fmt::format("anchored on a measured step of {} on {} × {}",
                            format_time(Seconds(run.measured.step_seconds)), run.measured.gpus, from);
  Parameter parameter;
  parameter.relative_spread = carrying_spread(run.scenario, scenario, catalogue);
  parameter.value = anchor.compute_scale;
  parameter.unit = "times the catalogue's compute and host time";
  parameter.source = "the scenario's measured step";
  if (from == to) {
    parameter.name = "measured step on " + from;
    parameter.provenance = same_micro_batch ? Provenance::measured : Provenance::interpolated;
    anchor.is_the_measured_run = run.same_machine && run.scenario.cluster.gpus == scenario.cluster.gpus &&
                                 same_micro_batch && is_same_stack(run.scenario.stack, scenario.stack);
  } else {
    parameter.name = fmt::format("step carried from {} to {}", from, to);
    parameter.provenance = Provenance::fitted;
    anchor.note += ", carried over to " + to;
  }
  anchor.parameter = parameter;
  return anchor;
}

Anchor find_anchor(const Scenario& scenario, const Scenario& original, const calibrate::Catalogue& catalogue) {
  if (original.measured.empty()) return {};
  const MeasuredRun run = nearest_measured_run(scenario, original, catalogue);
  return anchor_for(scenario, solve_anchor(run, catalogue), catalogue);
}

}  // namespace foretrain::sim::studies
