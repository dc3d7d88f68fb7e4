#include "sim/studies/known_work.h"

#include "base/error.h"
#include "sim/studies/measured_run.h"
#include "sim/studies/run.h"
#include "sim/studies/solve.h"

namespace foretrain::sim::studies {

Scenario with_known_work(const Scenario& scenario, const Scenario& original, const calibrate::Catalogue& catalogue) {
  const models::ModelSource& model = scenario.model;
  if (model.kind != models::ModelSource::Kind::totals || model.totals.flops_per_sample > 0) return scenario;
  if (original.measured.empty()) {
    throw Error("the model's work is not known: neither FLOPs per sample nor a measured step are stated",
                model.where.empty() ? "/model" : model.where,
                "state model.flops_per_sample (forward + backward), or a measured step");
  }
  MeasuredRun run = nearest_measured_run(scenario, original, catalogue);
  constexpr double uses = 6;  // a first guess: every parameter once, two FLOPs forward and four backward
  const double guess = uses * model.totals.parameters;
  const auto step_with = [&](double factor) {
    run.scenario.model.totals.flops_per_sample = guess * factor;
    ParameterTable parameters;
    return Run(run.scenario, catalogue, {}, {}, parameters).replay().step_seconds;
  };
  // Whole matrices make the step jump by about 1e-5; the anchor's factor takes up the rest.
  double low = 0, high = 1;
  while (step_with(high) < run.measured.step_seconds) high *= 2;
  while (high - low > 1e-4 * high) {
    const double middle = (low + high) / 2;
    (step_with(middle) < run.measured.step_seconds ? low : high) = middle;
  }
  Scenario known = scenario;
  known.model.totals.flops_per_sample = guess * high;
  return known;
}

}  // namespace foretrain::sim::studies
