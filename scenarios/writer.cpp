#include <nlohmann/json.hpp>

#include "scenarios/fields.h"
#include "scenarios/reader.h"

namespace foretrain::scenarios {
namespace {

// What an owner says by a row; null when it says nothing or only the default.
template <class Owner>
Json said(const Field<Owner>& field, const Owner& owner) {
  Json value, usual;
  field.write(owner, value);
  if (!field.required) field.write(Owner{}, usual);
  return value == usual ? Json() : value;
}

// The object that holds the keys of `section`, made when missing.
Json& object_at(Json& scenario, const std::string& section) {
  if (section.empty()) return scenario;
  return object_at(scenario, section_of(section))[key_of(section)];
}

Json measured_json(const sim::Measured& step) {
  Json entry = Json::object();
  for (const auto& field : measured_fields()) {
    Json value = said(field, step);
    if (!value.is_null()) entry[key_of(field.path)] = std::move(value);
  }
  return entry;
}

}  // namespace

Json write_scenario(const sim::Scenario& scenario) {
  Json json = Json::object();
  sim::Scenario copy = scenario;  // numbers() gives a map to change
  for (const auto& field : scenario_fields()) {
    const std::string section = section_of(field.path);
    if (field.numbers) {
      for (const auto& [key, value] : field.numbers(copy)) object_at(json, section)[key] = number_json(value);
      continue;
    }
    Json value = said(field, scenario);
    if (!value.is_null()) object_at(json, section)[key_of(field.path)] = std::move(value);
  }
  for (const sim::Measured& step : scenario.measured) json["measured"].push_back(measured_json(step));
  return json;
}

}  // namespace foretrain::scenarios
