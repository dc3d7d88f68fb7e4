#include "reports/json.h"

#include <cmath>

#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace foretrain::reports {

namespace {

Json quantities_json(const std::vector<sim::NamedQuantity>& quantities) {
  Json json = Json::object();
  for (const auto& [key, quantity] : quantities) json[key] = quantity_json(quantity);
  return json;
}

Json memory_json(const sim::MemoryAnswer& memory) {
  Json json = quantities_json(memory.parts);
  json["total"] = quantity_json(memory.total);
  json["capacity"] = quantity_json(memory.capacity);
  json["fits"] = memory.fits;
  json["advice"] = memory.advice;
  if (memory.stages.size() > 1) {
    json["fullest_stage"] = memory.fullest;
    for (const Quantity& stage : memory.stages) json["stages"].push_back(quantity_json(stage));
  }
  return json;
}

Json parameter_json(const sim::ParameterShare& share) {
  Json json;
  json["name"] = share.parameter.name;
  json["value"] = share.parameter.value;
  json["unit"] = share.parameter.unit;
  json["relative_spread"] = share.parameter.relative_spread;
  json["provenance"] = to_string(share.parameter.provenance);
  json["source"] = share.parameter.source;
  json["critical_seconds"] = share.critical_seconds;
  return json;
}

Json term_json(const sim::Term& term) {
  Json json;
  json["name"] = term.name;
  json["group"] = term.group;
  json["seconds"] = term.seconds;
  json["formula"] = term.formula;
  json["provenance"] = term.provenance;
  json["source"] = term.source;
  return json;
}

Json track_record_json(const calibrate::TrackRecord& record) {
  Json json;
  json["kind"] = record.kind;
  json["families"] = record.families;
  json["points"] = record.points;
  json["most_gpus"] = record.most_gpus;
  json["median_ape"] = record.median_ape;
  json["mape"] = record.mape;
  json["coverage90"] = record.coverage90;
  return json;
}

Json run_record_json(const calibrate::RunRecord& record) {
  Json json;
  json["alike"] = record.alike;
  json["runs"] = record.runs;
  json["sources"] = record.sources;
  json["gpus"] = {record.least_gpus, record.most_gpus};
  json["parameters"] = {record.least_parameters, record.most_parameters};
  json["median_ape"] = record.median_ape;
  json["mape"] = record.mape;
  json["skill"] = std::isnan(record.skill) ? Json(nullptr) : Json(record.skill);
  json["held"] = record.held;
  json["beyond"] = record.beyond;
  return json;
}

Json prediction_json(const sim::Prediction& prediction) {
  Json json;
  json["step_time"] = quantity_json(prediction.step_time);
  json["throughput"] = quantity_json(prediction.throughput);
  json["speedup"] = quantity_json(prediction.speedup);
  json["efficiency"] = quantity_json(prediction.efficiency);
  json["breakdown"] = quantities_json(prediction.breakdown);
  json["one_gpu_fits"] = prediction.one_gpu_fits;
  json["sharding"] = prediction.sharding;
  json["memory"] = memory_json(prediction.memory);
  json["cost"] = quantity_json(prediction.cost);
  json["energy"] = quantity_json(prediction.energy);
  json["cost_per_hour"] = quantity_json(prediction.cost_per_hour);
  json["epoch_time"] = quantity_json(prediction.epoch_time);
  json["run_time"] = quantity_json(prediction.run_time);
  json["data_parallel"] = prediction.data_parallel;
  json["accumulation"] = prediction.accumulation;
  json["global_batch"] = prediction.global_batch;
  json["nodes"] = prediction.nodes;
  json["binding"] = prediction.binding;
  json["track_record"] = prediction.track_record ? track_record_json(*prediction.track_record) : Json(nullptr);
  json["run_record"] = prediction.run_record ? run_record_json(*prediction.run_record) : Json(nullptr);
  json["extrapolating"] = prediction.extrapolating;
  json["warnings"] = prediction.warnings;
  Json& parameters = json["parameters"] = Json::array();
  for (const sim::ParameterShare& share : prediction.parameters) parameters.push_back(parameter_json(share));
  json["events"] = prediction.events;
  return json;
}

Json number_or_null(double number) { return number > 0 ? Json(number) : Json(nullptr); }

Json workload_json(const Workload& workload) {
  Json json;
  json["model"] = workload.model;
  json["family"] = workload.family;
  json["sample_unit"] = workload.sample_unit;
  json["source"] = workload.source;
  json["parameters"] = number_or_null(workload.parameters);
  json["training_flops_per_sample"] = number_or_null(workload.training_flops_per_sample);
  json["saved_elements_per_sample"] = number_or_null(workload.saved_elements_per_sample);
  json["device_peak_flops_per_s"] = number_or_null(workload.device_peak_flops_per_s);
  return json;
}

Json alternative_json(const sim::AlternativeAnswer& alternative, const ScenarioWriter& scenario) {
  Json json;
  json["name"] = alternative.name;
  json["scenario"] = scenario(alternative.scenario);
  json["prediction"] = prediction_json(alternative.prediction);
  return json;
}

}  // namespace

Json quantity_json(const Quantity& quantity) {
  Json json;
  json["value"] = quantity.known ? Json(quantity.value) : Json(nullptr);
  json["low"] = quantity.known ? Json(quantity.low) : Json(nullptr);
  json["high"] = quantity.known ? Json(quantity.high) : Json(nullptr);
  json["unit"] = quantity.unit;
  json["provenance"] = quantity.provenance;
  return json;
}

Json result_json(const Head& head) {
  Json json;
  json["foretrain_result"] = 1;
  json["command"] = head.command;
  json["version"] = head.version;
  json["input_digest"] = head.input_digest;
  Json& profiles = json["profiles"] = Json::array();
  for (const Profile& profile : head.profiles) {
    Json one;
    one["kind"] = profile.kind;
    one["name"] = profile.name;
    one["digest"] = profile.digest;
    profiles.push_back(one);
  }
  Json settings;
  settings["fold"] = head.folded;
  settings["replays"] = head.replays;
  settings["seed"] = head.seed;
  json["settings"] = settings;
  return json;
}

Json result_json(const PredictResult& result, const ScenarioWriter& scenario) {
  Json json = result_json(result.head);
  json["scenario"] = scenario(result.scenario);
  json["workload"] = workload_json(result.workload);
  json["prediction"] = prediction_json(result.prediction);
  if (result.prediction.terms.empty()) return json;
  Json& terms = json["terms"] = Json::array();
  for (const sim::Term& term : result.prediction.terms) terms.push_back(term_json(term));
  return json;
}

Json result_json(const DecideResult& result, const ScenarioWriter& scenario) {
  const sim::Decision& decision = result.decision;
  Json json = result_json(result.head);
  json["verdict"] = decision.verdict;
  json["answer"] = decision.answer;
  const bool stay = decision.recommended < 0;
  json["recommended"] = stay ? decision.base.name : decision.alternatives[static_cast<std::size_t>(decision.recommended)].name;
  json["reasons"] = decision.reasons;
  json["change_first"] = decision.change_first;
  json["workload"] = workload_json(result.workload);
  json["base"] = alternative_json(decision.base, scenario);
  Json& alternatives = json["alternatives"] = Json::array();
  for (const sim::AlternativeAnswer& alternative : decision.alternatives) {
    Json one = alternative_json(alternative, scenario);
    one["gain"] = quantity_json(alternative.gain_interval);
    one["odds_faster_than_base"] = alternative.odds_faster_than_base;
    one["independent_runs"] = quantity_json(alternative.independent_runs);
    alternatives.push_back(one);
  }
  return json;
}

namespace {

// JSON with the control characters beyond ASCII, which stand in strings only, as \u escapes: the same values to a
// reader, but nothing that a terminal obeys.
std::string without_hidden_characters(std::string_view json) {
  std::string result;
  while (!json.empty()) {
    const utf8::CodePoint next = utf8::decode(json);
    if (next.value >= 0x7F && utf8::is_control(next.value)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(next.value));
    } else {
      result += json.substr(0, next.length);
    }
    json.remove_prefix(next.length);
  }
  return result;
}

}  // namespace

std::string json_line(const Json& json) {
  return without_hidden_characters(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string json_text(const Json& json) {
  // Text from files was checked to be UTF-8 when it was read; a replacement character is safer than a crash
  // for what came from the command line.
  return without_hidden_characters(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace foretrain::reports
