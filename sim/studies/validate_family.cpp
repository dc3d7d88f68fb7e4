#include <algorithm>
#include <map>
#include <string>

#include "sim/breakdown.h"
#include "sim/studies/anchor.h"
#include "sim/studies/known_work.h"
#include "sim/studies/run.h"
#include "sim/studies/scaling_interval.h"
#include "sim/studies/shares.h"
#include "sim/studies/validate.h"

namespace foretrain::sim::studies {
namespace {

// One run of a family after its replay.
struct Outcome {
  double step_seconds = 0;
  Effects effects;
  std::map<std::string, double> breakdown;
  ScalingLoss unexplained;
};

Outcome replayed(const Scenario& scenario, const Anchor& anchor, const calibrate::Catalogue& catalogue) {
  ParameterTable parameters;
  const Run run(scenario, catalogue, anchor, {}, parameters);
  const Timeline timeline = run.replay();
  Outcome outcome;
  outcome.step_seconds = timeline.step_seconds;
  outcome.effects = effects_of(critical_path(run.job(), timeline), timeline.step_seconds, parameters);
  outcome.breakdown = breakdown(run.job(), timeline, timeline.longest.instance);
  outcome.unexplained = scaling_loss(run, catalogue);
  return outcome;
}

// What a point's step has in every part beyond the anchor's share of it, were scaling perfect.
void fill_largest_loss(ValidatedPoint& point, const Outcome& outcome, const Outcome& anchor, double perfect_step) {
  for (const auto& [part, seconds] : outcome.breakdown) {
    const auto at_anchor = anchor.breakdown.find(part);
    const double shared = at_anchor == anchor.breakdown.end() ? 0.0 : at_anchor->second;
    const double lost = (seconds - shared * perfect_step / anchor.step_seconds) / outcome.step_seconds;
    if (lost <= point.largest_loss_share) continue;
    point.largest_loss = part;
    point.largest_loss_share = lost;
  }
}

// The work of all points is the anchor's, where only its measured step says how much that is.
Scenario with_work_of(const Scenario& anchor, Scenario scenario) {
  if (scenario.model.kind == models::ModelSource::Kind::totals) scenario.model.totals = anchor.model.totals;
  return scenario;
}

bool runs_same_kernels(const Scenario& a, const Scenario& b) {
  return a.training.micro_batch == b.training.micro_batch && a.cluster.machine == b.cluster.machine &&
         a.cluster.gpu == b.cluster.gpu;
}

}  // namespace

std::vector<ValidatedPoint> predict_family(const Family& family, const calibrate::Catalogue& catalogue) {
  const Scenario& stated = family.anchor.scenario;
  const Scenario original = with_known_work(stated, stated, catalogue);
  const SolvedAnchor solved = solve_anchor(nearest_measured_run(original, original, catalogue), catalogue);
  const Anchor measured = anchor_for(original, solved, catalogue);
  const Outcome base = replayed(original, measured, catalogue);
  const double base_rate = family.anchor.samples / solved.run.measured.step_seconds;

  std::vector<ValidatedPoint> points;
  for (const FamilyPoint& asked : family.points) {
    const Scenario scenario = with_work_of(original, asked.scenario);
    Anchor anchor = measured;
    anchor.is_the_measured_run = false;
    if (!runs_same_kernels(scenario, original)) anchor = anchor_for(scenario, solved, catalogue);
    const Outcome outcome = replayed(scenario, anchor, catalogue);

    ValidatedPoint point;
    point.id = family.id;
    point.group = family.group;
    point.kind = family.kind;
    point.gpus = asked.gpus;
    point.anchor_gpus = family.anchor.gpus;
    point.measured = asked.measured_speedup;
    point.predicted = asked.samples / outcome.step_seconds / base_rate;
    const double ratio = static_cast<double>(point.gpus) / static_cast<double>(point.anchor_gpus);
    const LogMargins margins = together(unexplained_margins(outcome.unexplained, point.predicted / ratio),
                                        symmetric_margins(log_spread_of_ratio(outcome.effects, base.effects)));
    const Quantity interval = rate_quantity(point.predicted, margins, "1", "");
    point.low = interval.low;
    point.high = interval.high;
    fill_largest_loss(point, outcome, base, outcome.step_seconds * point.predicted / ratio);
    points.push_back(point);
  }
  return points;
}

}  // namespace foretrain::sim::studies
