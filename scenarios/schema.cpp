#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/model.h"
#include "scenarios/describe.h"
#include "scenarios/fields.h"

namespace foretrain::scenarios {
namespace {

std::string described(const FieldInfo& field) {
  return field.unit.empty() ? field.doc : field.doc + " Unit: " + field.unit + ".";
}

// The schema of one value, without its place.
Json leaf(const FieldInfo& field) {
  Json schema = {{"description", described(field)}};
  switch (field.type) {
    case FieldType::integer: schema["type"] = "integer"; break;
    case FieldType::number: schema["type"] = "number"; break;
    case FieldType::text:
    case FieldType::choice: schema["type"] = "string"; break;
    case FieldType::flag: schema["type"] = "boolean"; break;
    case FieldType::integers:
      schema["type"] = "array";
      schema["minItems"] = 1;
      schema["items"] = {{"type", "integer"},
                         {"minimum", number_json(field.range.low)},
                         {"maximum", number_json(field.range.high)}};
      break;
  }
  if (field.type == FieldType::text) schema["minLength"] = 1;
  if (field.type == FieldType::choice) schema["enum"] = field.choices;
  if (field.type == FieldType::integer || field.type == FieldType::number) {
    schema[field.range.above ? "exclusiveMinimum" : "minimum"] = number_json(field.range.low);
    schema["maximum"] = number_json(field.range.high);
  }
  schema["examples"] = Json::array({Json::parse(field.example)});
  return schema;
}

template <class Owner>
Json leaf_with_default(const Field<Owner>& field) {
  Json schema = leaf(field), usual = default_of(field);
  if (!usual.is_null()) schema["default"] = std::move(usual);
  return schema;
}

Json object(const std::string& description, const Json& properties, const std::vector<std::string>& required) {
  Json schema = {{"type", "object"}, {"description", description}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

template <class Owner>
Json section_object(const std::vector<Field<Owner>>& fields, const Section& section) {
  Json properties = Json::object(), any_key = false;
  std::vector<std::string> required;
  for (const auto& field : fields) {
    if (section_of(field.path) != section.path) continue;
    if (field.numbers) {
      any_key = leaf(field);
      continue;
    }
    properties[key_of(field.path)] = leaf_with_default(field);
    if (field.required) required.push_back(key_of(field.path));
  }
  Json schema = object(section.doc, properties, required);
  schema["additionalProperties"] = any_key;
  return schema;
}

// Every size of every zoo entry, once.
std::vector<std::string> all_sizes(const DataStore& data) {
  std::map<std::string, double> sizes;
  for (const models::ZooEntry& entry : models::zoo_entries(data)) sizes.merge(models::zoo_sizes(entry.name, data));
  std::vector<std::string> names;
  for (const auto& [name, value] : sizes) names.push_back(name);
  return names;
}

Json zoo_name(const FieldInfo& field, const DataStore& data) {
  Json schema = leaf(field);
  for (const models::ZooEntry& entry : models::zoo_entries(data)) schema["enum"].push_back(entry.name);
  return schema;
}

// One alternative per way of giving a model.
Json model_object(const Section& section, const DataStore& data) {
  Json alternatives = Json::array();
  for (const auto& variant : scenario_fields()) {
    if (section_of(variant.path) != "model" || key_of(variant.path) != variant.variant) continue;
    Json properties = Json::object();
    for (const auto& field : scenario_fields()) {
      const bool sizes = field.numbers && variant.variant == "huggingface";
      if (section_of(field.path) != "model" || (field.variant != variant.variant && !sizes)) continue;
      if (field.numbers) {
        for (const std::string& size : all_sizes(data)) properties[size] = leaf(field);
      } else {
        properties[key_of(field.path)] = field.path == "model.zoo" ? zoo_name(field, data) : leaf_with_default(field);
      }
    }
    alternatives.push_back(object(variant.doc, properties, {variant.variant}));
  }
  return {{"description", section.doc}, {"oneOf", alternatives}};
}

Json one_or_list(const Json& schema) {
  return {{"anyOf", {schema, {{"type", "array"}, {"items", schema}, {"minItems", 1}}}}};
}

Json options_array(const DataStore& data) {
  Json properties = Json::object(), stack_option;
  for (const auto& field : scenario_fields()) {
    if (!field.settable) continue;
    if (field.path == "stack.options.*") {
      stack_option = one_or_list(leaf(field));
    } else if (field.path == "model.*") {
      for (const std::string& size : all_sizes(data)) {
        const std::string path = "model." + size;
        if (!properties.contains(path)) properties[path] = one_or_list(leaf(field));
      }
    } else {
      properties[field.path] = one_or_list(leaf(field));
    }
  }
  Json entry = object("Dotted keys and their values; a list is one option each.", properties, {});
  entry["patternProperties"] = {{"^stack\\.options\\.[^.]+$", stack_option}};
  entry["minProperties"] = 1;
  return {{"type", "array"},
          {"description", "What `decide` compares the scenario with: every entry is the scenario with these changes."},
          {"items", entry}};
}

}  // namespace

Json scenario_schema(const DataStore& data) {
  Json top;
  for (const Section& section : sections()) {
    if (section.path.empty()) {
      top = section_object(scenario_fields(), section);
    } else if (section.path == "model") {
      top["properties"]["model"] = model_object(section, data);
    } else if (section.path == "measured[]") {
      top["properties"]["measured"] = {
          {"type", "array"}, {"description", section.doc}, {"items", section_object(measured_fields(), section)}};
    } else if (section.path == "stack.options") {
      top["properties"]["stack"]["properties"]["options"] = section_object(scenario_fields(), section);
    } else {
      top["properties"][section.path] = section_object(scenario_fields(), section);
    }
  }
  top["properties"]["options"] = options_array(data);
  top["required"] = {"foretrain", "model", "training", "cluster"};
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "foretrain scenario"}};
  schema.update(top);
  return schema;
}

}  // namespace foretrain::scenarios
