#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "reports/json.h"
#include "reports/validate_run_tables.h"

namespace foretrain::reports {

namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json point_json(const sim::ValidatedPoint& point) {
  Json json;
  json["id"] = point.id;
  json["gpus"] = point.gpus;
  json["measured"] = number(point.measured);
  json["predicted"] = number(point.predicted);
  json["low"] = number(point.low);
  json["high"] = number(point.high);
  return json;
}

Json declined_json(const sim::DeclinedFamily& family) {
  Json json;
  json["id"] = family.id;
  json["reason"] = family.reason;
  return json;
}

Json score_json(const sim::GroupScore& score) {
  Json json;
  json["name"] = score.name;
  json["rows"] = score.rows;
  json["predicted"] = score.predicted;
  json["unsupported"] = score.unsupported;
  json["points"] = score.points;
  json["mape"] = number(score.mape);
  json["median_ape"] = number(score.median_ape);
  json["bias"] = number(score.bias);
  json["within_10_percent"] = number(score.within_10_percent);
  json["coverage90"] = number(score.coverage90);
  json["median_width"] = number(score.median_width);
  json["kendall_tau"] = nullptr;  // ranks alternatives of one set; a family has none
  json["regret"] = nullptr;
  json["skill"] = number(score.skill);
  json["median_skill"] = number(score.median_skill);
  Json& baselines = json["baselines"] = Json::object();
  for (const auto& [name, errors] : score.baselines) {
    baselines[name]["mape"] = number(errors.mape);
    baselines[name]["median_ape"] = number(errors.median_ape);
  }
  return json;
}

// The keys of families, with what only runs have in place of nulls and behind.
Json score_json(const sim::RunScore& score) {
  Json json = score_json(score.errors);
  json["kendall_tau"] = number(score.ranks.kendall_tau);
  json["regret"] = number(score.ranks.regret);
  json["sets"] = score.ranks.sets;
  json["fair_skill"] = number(score.fair_skill);
  json["coverage90_left_out"] = number(score.coverage_left_out);
  return json;
}

// Of all runs: their score, and how it goes when every group counts alike.
Json overall_json(const sim::RunValidation& runs) {
  Json json = score_json(runs.overall);
  const sim::GroupComparison& comparison = runs.comparison;
  json["groups"] = comparison.groups;
  json["mean_of_groups"] = number(comparison.mean_mape);
  json["groups_with_fair"] = comparison.with_fair;
  json["groups_better_than_fair"] = comparison.better_than_fair;
  json["groups_with_hard"] = comparison.with_hard;
  json["groups_better_than_hard"] = comparison.better_than_hard;
  return json;
}

const std::string& name_of(const sim::GroupScore& score) { return score.name; }
const std::string& name_of(const sim::RunScore& score) { return score.errors.name; }

template <class Score>
void append_scores(Json& list, const std::vector<Score>& scores) {
  for (const Score& score : scores) list.push_back(score_json(score));
}

template <class Score>
void name_scores(Json& object, const std::vector<Score>& scores) {
  for (const Score& score : scores) object[name_of(score)] = score_json(score);
}

Json run_json(const sim::ValidatedRun& run) {
  Json json;
  json["id"] = run.label.id;
  json["measured"] = number(run.measured);
  json["predicted"] = number(run.predicted);
  json["low"] = number(run.low);
  json["high"] = number(run.high);
  return json;
}

Json declined_json(const sim::DeclinedRun& run) {
  Json json;
  json["id"] = run.label.id;
  json["reason"] = run.reason;
  return json;
}

// "overall" is that of the kind of rows there is; of both kinds together it only counts and averages errors, and each
// has its own beside it.
void add_overall(Json& json, const sim::Validation& validation) {
  if (!has_runs(validation)) {
    json["overall"] = score_json(validation.overall);
  } else if (!has_families(validation)) {
    json["overall"] = overall_json(validation.runs);
  } else {
    json["overall"] = score_json(validation.pooled);
    json["overall_by_kind"]["speedup_families"] = score_json(validation.overall);
    json["overall_by_kind"]["llm_runs"] = overall_json(validation.runs);
  }
}

void add_completeness(Json& json, const sim::RunValidation& runs) {
  json["complete_runs"]["rows"] = runs.complete;
  json["complete_runs"]["predicted"] = runs.complete_predicted;
}

// What answers quote of speedup curves: no more than they can say in a sentence.
Json record_json(const sim::GroupScore& score, std::int64_t most_gpus) {
  Json json;
  json["name"] = score.name;
  json["families"] = score.predicted;
  json["points"] = score.points;
  json["most_gpus"] = most_gpus;
  json["median_ape"] = number(score.median_ape);
  json["mape"] = number(score.mape);
  json["coverage90"] = number(score.coverage90);
  return json;
}

std::int64_t most_gpus(const sim::Validation& validation, const std::string& kind) {
  std::int64_t most = 0;
  for (const sim::ValidatedPoint& point : validation.points) {
    if (point.kind == kind) most = std::max(most, point.gpus);
  }
  return most;
}

// Rounded: what is quoted has two digits, and the file stays small.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

// In the order of the columns; "" where the baseline cannot speak.
Json predicted_run_json(const sim::ValidatedRun& run) {
  const calibrate::RunTraits& traits = run.traits;
  const auto baseline = run.baselines.find("utilisation_of_others");
  const bool has_baseline = baseline != run.baselines.end() && std::isfinite(baseline->second);
  return {run.label.id,
          run.label.group,
          rounded(run.predicted / run.measured - 1),
          has_baseline ? Json(rounded(baseline->second / run.measured - 1)) : Json(""),
          run.held_left_out,
          traits.family,
          traits.stack,
          traits.chip,
          traits.precision,
          traits.network,
          traits.sharding,
          traits.schedule,
          traits.recompute,
          traits.gpus,
          traits.nodes,
          traits.tensor,
          traits.pipeline,
          traits.parameters,
          traits.tokens_per_pass,
          std::round(traits.flops_per_kernel)};
}

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> columns = {
      "id",       "source",   "error",     "baseline_error", "held",  "family",     "stack",
      "chip",     "precision", "network",  "sharding",       "schedule", "recompute", "gpus",
      "nodes",    "tensor",   "pipeline",  "parameters",     "tokens_per_pass", "flops_per_kernel"};
  return columns;
}

}  // namespace

Json result_json(const ValidateResult& result) {
  const sim::Validation& validation = result.validation;
  Json json = result_json(result.head);
  Json& rows = json["rows"] = Json::array();
  for (const auto& point : validation.points) rows.push_back(point_json(point));
  for (const auto& family : validation.declined) rows.push_back(declined_json(family));
  for (const auto& run : validation.runs.runs) rows.push_back(run_json(run));
  for (const auto& run : validation.runs.declined) rows.push_back(declined_json(run));
  Json& groups = json["groups"] = Json::array();
  append_scores(groups, validation.groups);
  append_scores(groups, validation.runs.groups);
  if (has_families(validation) || !has_runs(validation)) {
    Json& kinds = json["kinds"] = Json::array();
    append_scores(kinds, validation.kinds);
  }
  if (has_runs(validation)) {
    Json& classes = json["gpu_classes"] = Json::array();
    append_scores(classes, validation.runs.gpu_classes);
    add_completeness(json, validation.runs);
  }
  add_overall(json, validation);
  return json;
}

Json scores_by_name_json(const sim::Validation& validation) {
  Json json;
  add_overall(json, validation);
  name_scores(json["groups"], validation.groups);
  name_scores(json["groups"], validation.runs.groups);
  name_scores(json["kinds"], validation.kinds);
  if (has_runs(validation)) {
    name_scores(json["gpu_classes"], validation.runs.gpu_classes);
    add_completeness(json, validation.runs);
  }
  return json;
}

std::string track_record_text(const ValidateResult& result) {
  const sim::Validation& validation = result.validation;
  const bool of_runs = has_runs(validation), of_families = has_families(validation) || !of_runs;
  Json json;
  json["foretrain_track_record"] = 1;
  json["command"] = result.head.command;
  json["version"] = result.head.version;
  json["input_digest"] = result.head.input_digest;
  json["of"] = !of_runs ? "speedup families" : of_families ? "speedup families and runs of language models"
                                                           : "runs of language models";
  Json& kinds = json["kinds"] = Json::array();
  for (const sim::GroupScore& score : validation.kinds) {
    if (score.points > 0) kinds.push_back(record_json(score, most_gpus(validation, score.name)));
  }
  if (!of_runs) return json_text(json);
  json["runs"]["columns"] = run_columns();
  json["runs"]["lines"] = "here";
  std::vector<std::string> lines;
  for (const sim::ValidatedRun& run : validation.runs.runs) lines.push_back(json_line(predicted_run_json(run)));
  std::string text = json_text(json);
  const std::string here = "\"here\"";
  return text.replace(text.rfind(here), here.size(), fmt::format("[\n      {}\n    ]", joined(lines, ",\n      ")));
}

Json interval_factors_json(const ValidateResult& result) {
  Json json;
  json["foretrain_interval_factors"] = 1;
  json["command"] = result.head.command;
  json["version"] = result.head.version;
  json["input_digest"] = result.head.input_digest;
  Json& classes = json["classes"] = Json::array();
  for (const calibrate::IntervalFactors& factors : result.validation.runs.interval_factors) {
    Json one;
    one["family"] = factors.family;
    one["stack"] = factors.stack;
    one["chip"] = factors.chip;
    one["scale"] = factors.scale;
    one["runs"] = factors.runs;
    one["below"] = factors.below;
    one["above"] = factors.above;
    classes.push_back(one);
  }
  return json;
}

}  // namespace foretrain::reports
