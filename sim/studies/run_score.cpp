#include "sim/studies/run_score.h"

#include <cmath>
#include <map>
#include <string>

#include "sim/studies/error_score.h"
#include "sim/studies/interval_fit.h"
#include "sim/studies/rank_score.h"
#include "sim/studies/run_baselines.h"

namespace foretrain::sim::studies {
namespace {

using RunsByName = std::map<std::string, std::vector<const ValidatedRun*>>;

RunScore named_score(const std::string& name, const std::vector<const ValidatedRun*>& runs, std::int64_t declined) {
  RunScore score = score_of(runs);
  score.errors.name = name;
  score.errors.unsupported = declined;
  score.errors.rows += declined;
  return score;
}

std::vector<RunScore> scores_by(const RunValidation& validation, std::string RunLabel::*name) {
  RunsByName runs;
  std::map<std::string, std::int64_t> declined;
  for (const ValidatedRun& run : validation.runs) runs[run.label.*name].push_back(&run);
  for (const DeclinedRun& run : validation.declined) {
    ++declined[run.label.*name];
    runs[run.label.*name];
  }
  std::vector<RunScore> scores;
  for (const auto& [of, own] : runs) scores.push_back(named_score(of, own, declined[of]));
  return scores;
}

// The least error of the baselines that have seen the group; NaN without one.
double hard_baseline_error(const RunScore& group) {
  double least = std::nan("");
  for (const auto& [name, baseline] : group.errors.baselines) {
    if (name != fair_baseline) least = std::fmin(least, baseline.mape);  // ignores NaN
  }
  return least;
}

bool is_complete(const RunLabel& label) {
  return label.keeps_tokens_whole && (label.tier == "A" || label.tier == "B");
}

}  // namespace

RunScore score_of(const std::vector<const ValidatedRun*>& runs) {
  double inside = 0;
  for (const ValidatedRun* run : runs) inside += run->held_left_out ? 1 : 0;
  std::vector<Compared> compared;
  for (const ValidatedRun* run : runs) {
    compared.push_back({run->measured, run->predicted, run->low, run->high, &run->baselines});
  }
  RunScore score;
  score.errors = error_score(compared);
  score.errors.predicted = score.errors.rows = static_cast<std::int64_t>(runs.size());
  score.ranks = rank_score(runs);
  score.coverage_left_out = runs.empty() ? std::nan("") : inside / static_cast<double>(runs.size());
  const auto fair = score.errors.baselines.find(fair_baseline);
  score.fair_skill =
      fair == score.errors.baselines.end() ? std::nan("") : skill_over(score.errors.mape, fair->second.mape);
  return score;
}

GroupComparison compare_groups(const std::vector<RunScore>& groups) {
  constexpr double hard_to_know = 0.1;  // a constant that errs by less knows nearly all that the group tells
  GroupComparison comparison;
  double sum = 0;
  for (const RunScore& group : groups) {
    const double error = group.errors.mape;
    if (group.errors.points == 0) continue;
    ++comparison.groups;
    sum += error;
    const auto fair = group.errors.baselines.find(fair_baseline);
    if (fair != group.errors.baselines.end() && !std::isnan(fair->second.mape)) {
      ++comparison.with_fair;
      if (error < fair->second.mape) ++comparison.better_than_fair;
    }
    const double hard = hard_baseline_error(group);
    if (hard > hard_to_know) {
      ++comparison.with_hard;
      if (error < hard) ++comparison.better_than_hard;
    }
  }
  if (comparison.groups > 0) comparison.mean_mape = sum / static_cast<double>(comparison.groups);
  return comparison;
}

GroupScore pooled_score(const Validation& validation) {
  std::vector<Compared> compared;
  for (const ValidatedPoint& point : validation.points) {
    compared.push_back({point.measured, point.predicted, point.low, point.high, nullptr});
  }
  for (const ValidatedRun& run : validation.runs.runs) {
    compared.push_back({run.measured, run.predicted, run.low, run.high, nullptr});
  }
  GroupScore score = error_score(compared);
  const GroupScore &families = validation.overall, &runs = validation.runs.overall.errors;
  score.name = "overall";
  score.rows = families.rows + runs.rows;
  score.predicted = families.predicted + runs.predicted;
  score.unsupported = families.unsupported + runs.unsupported;
  return score;
}

void fill_scores(RunValidation& validation) {
  std::vector<const ValidatedRun*> predicted;
  for (const ValidatedRun& run : validation.runs) predicted.push_back(&run);
  const std::vector<bool> held = held_left_out(predicted);
  for (std::size_t i = 0; i < held.size(); ++i) validation.runs[i].held_left_out = held[i];
  validation.interval_factors = fit_interval_factors(predicted);
  validation.groups = scores_by(validation, &RunLabel::group);
  validation.gpu_classes = scores_by(validation, &RunLabel::gpu_class);
  std::vector<const ValidatedRun*> all;
  validation.complete = validation.complete_predicted = 0;
  for (const ValidatedRun& run : validation.runs) {
    all.push_back(&run);
    if (is_complete(run.label)) ++validation.complete_predicted;
  }
  validation.complete = validation.complete_predicted;
  for (const DeclinedRun& run : validation.declined) {
    if (is_complete(run.label)) ++validation.complete;
  }
  validation.overall = named_score("overall", all, static_cast<std::int64_t>(validation.declined.size()));
  validation.comparison = compare_groups(validation.groups);
}

}  // namespace foretrain::sim::studies
