#include "sim/studies/anchor.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/studies/measured_run.h"
#include "sim/studies/shares.h"
#include "sim/studies/solve.h"

namespace foretrain::sim::studies {
namespace {

double solve_scale(const MeasuredRun& run, const calibrate::Catalogue& catalogue) {
  Anchor probe;
  probe.parameter = Parameter{"anchor probe", 0, Provenance::given, "", 1, ""};
  ParameterTable parameters;
  const Run ready(run.scenario, catalogue, probe, {}, parameters);
  const ParameterId scaled = parameters.add(*probe.parameter);
  const std::optional<double> scale = solve_rising(
      [&](double factor) {
        Draw draw = neutral_draw(parameters);
        draw[scaled.index] = factor;
        return ready.replay(&draw).step_seconds;
      },
      run.measured.step_seconds);
  if (scale) return *scale;
  throw Error(fmt::format("a measured step of {} on {} GPUs is shorter than its input pipeline and communication alone",
                          format_time(Seconds(run.measured.step_seconds)), run.measured.gpus),
              "/measured", "check step_seconds, and the rates of input and cluster");
}

// Spread of an unanchored one-GPU step, without input: the calibration error of device and stack.
double own_spread(const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  Scenario alone = scenario;
  const strategies::Batches batches =
      strategies::resolve_batches(scenario.training, scenario.plan, scenario.cluster.gpus);
  alone.training = strategies::rescaled(scenario.training, batches, 1);
  alone.cluster.gpus = 1;
  alone.cluster.straggler_slowdown = 1;
  alone.input = InputPipeline{};
  ParameterTable parameters;
  const Run run(alone, catalogue, {}, {}, parameters);
  const Timeline timeline = run.replay();
  return log_spread(effects_of(critical_path(run.job(), timeline), timeline.step_seconds, parameters));
}

// Whether kernels and launches of a sample are the same: only the number of GPUs and samples may differ.
bool same_work(const Scenario& a, const Scenario& b) {
  return a.model.kind == b.model.kind && a.model.name == b.model.name && a.model.overrides == b.model.overrides &&
         a.training.precision == b.training.precision && a.training.sequence == b.training.sequence &&
         a.training.optimizer == b.training.optimizer && a.stack.name == b.stack.name &&
         a.stack.options == b.stack.options;
}

Parameter measured_step(const std::string& device, const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  const double repeat = chosen_stack(scenario.stack, catalogue).at("measured_step_spread").relative_spread;
  return {"measured step on " + device, repeat, Provenance::measured, "the scenario's measured step", 0, ""};
}

Parameter carried_step(const std::string& from, const std::string& to, double spread) {
  return {fmt::format("step carried from {} to {}", from, to), spread, Provenance::fitted,
          "the scenario's measured step, times the ratio of both in the catalogue", 0, ""};
}

}  // namespace

Anchor find_anchor(const Scenario& scenario, const Scenario& original, const calibrate::Catalogue& catalogue) {
  Anchor anchor;
  if (original.measured.empty()) return anchor;
  const MeasuredRun run = nearest_measured_run(scenario, original, catalogue);
  const std::string from = device_of(run.scenario.cluster, catalogue);
  const std::string to = device_of(scenario.cluster, catalogue);
  const auto in_precision = [](const std::string& device, const Scenario& which) {
    return device + " in " + models::to_string(which.training.precision);
  };
  anchor.compute_scale = solve_scale(run, catalogue);
  anchor.note = fmt::format("anchored on a measured step of {} on {} × {}",
                            format_time(Seconds(run.measured.step_seconds)), run.measured.gpus, from);
  if (from == to && same_work(run.scenario, scenario)) {
    anchor.parameter = measured_step(from, scenario, catalogue);
    anchor.is_the_measured_run = run.same_machine && run.scenario.cluster.gpus == scenario.cluster.gpus &&
                                 run.scenario.training.micro_batch == scenario.training.micro_batch;
  } else {
    const double spread = std::hypot(own_spread(run.scenario, catalogue), own_spread(scenario, catalogue));
    anchor.parameter = carried_step(in_precision(from, run.scenario), in_precision(to, scenario), spread);
    anchor.note += ", carried over to " + in_precision(to, scenario);
  }
  anchor.parameter->value = anchor.compute_scale;
  anchor.parameter->unit = "times the catalogue's compute and host time";
  return anchor;
}

}  // namespace foretrain::sim::studies
