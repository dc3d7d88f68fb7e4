#include <cmath>
#include <cstddef>

#include <nlohmann/json.hpp>

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
    json["overall"] = score_json(validation.runs.overall);
  } else {
    json["overall"] = score_json(validation.pooled);
    json["overall_by_kind"]["speedup_families"] = score_json(validation.overall);
    json["overall_by_kind"]["llm_runs"] = score_json(validation.runs.overall);
  }
}

void add_completeness(Json& json, const sim::RunValidation& runs) {
  json["complete_runs"]["rows"] = runs.complete;
  json["complete_runs"]["predicted"] = runs.complete_predicted;
}

// What answers quote: no more than they can say in a sentence.
Json record_json(const sim::GroupScore& score, const char* rows) {
  Json json;
  json["name"] = score.name;
  json[rows] = score.predicted;
  json["points"] = score.points;
  json["median_ape"] = number(score.median_ape);
  json["mape"] = number(score.mape);
  json["coverage90"] = number(score.coverage90);
  return json;
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

Json track_record_json(const ValidateResult& result) {
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
    if (score.points > 0) kinds.push_back(record_json(score, "families"));
  }
  if (of_families) json["overall"] = record_json(validation.overall, "families");
  if (!of_runs) return json;
  Json& groups = json["groups"] = Json::array();
  for (const sim::RunScore& score : validation.runs.groups) {
    if (score.errors.points > 0) groups.push_back(record_json(score.errors, "runs"));
  }
  json[of_families ? "overall_of_runs" : "overall"] = record_json(validation.runs.overall.errors, "runs");
  return json;
}

}  // namespace foretrain::reports
