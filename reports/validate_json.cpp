#include <cmath>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "reports/json.h"

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

Json scores_json(const std::vector<sim::GroupScore>& scores) {
  Json json = Json::array();
  for (const sim::GroupScore& score : scores) json.push_back(score_json(score));
  return json;
}

// What answers quote: no more than they can say in a sentence.
Json record_json(const sim::GroupScore& score) {
  Json json;
  json["name"] = score.name;
  json["families"] = score.predicted;
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
  for (const sim::ValidatedPoint& point : validation.points) rows.push_back(point_json(point));
  for (const auto& family : validation.declined) rows.push_back(declined_json(family));
  json["groups"] = scores_json(validation.groups);
  json["kinds"] = scores_json(validation.kinds);
  json["overall"] = score_json(validation.overall);
  return json;
}

Json scores_by_name_json(const sim::Validation& validation) {
  Json json;
  json["overall"] = score_json(validation.overall);
  for (const sim::GroupScore& score : validation.groups) json["groups"][score.name] = score_json(score);
  for (const sim::GroupScore& score : validation.kinds) json["kinds"][score.name] = score_json(score);
  return json;
}

Json track_record_json(const ValidateResult& result) {
  Json json;
  json["foretrain_track_record"] = 1;
  json["command"] = result.head.command;
  json["version"] = result.head.version;
  json["input_digest"] = result.head.input_digest;
  json["of"] = "speedup families";
  Json& kinds = json["kinds"] = Json::array();
  for (const sim::GroupScore& score : result.validation.kinds) {
    if (score.points > 0) kinds.push_back(record_json(score));
  }
  json["overall"] = record_json(result.validation.overall);
  return json;
}

}  // namespace foretrain::reports
