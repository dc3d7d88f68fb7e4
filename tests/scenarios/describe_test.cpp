#include "scenarios/describe.h"

#include <sstream>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "scenarios/fields.h"
#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

const char* const page_path = FORETRAIN_SOURCE_DIR "/docs/scenario.md";

const Json& schema() {
  static const Json all = scenario_schema(DataStore());
  return all;
}

// The schema of the value at a dotted path, null when the schema has no such key.
Json schema_of(const std::string& path) {
  const std::string section = section_of(path);
  if (section == "model") {
    const auto* field = find_field(path);
    for (const Json& way : schema()["properties"]["model"]["oneOf"]) {
      if (way["required"][0] == field->variant) return way["properties"].value(key_of(path), Json());
    }
    return {};
  }
  Json at = schema();
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    const bool of_items = part == "measured[]";
    if (of_items) part = "measured";
    if (part == "*") return at["additionalProperties"];
    if (!at["properties"].contains(part)) return {};
    at = Json(at["properties"][part]);
    if (of_items) at = Json(at["items"]);
  }
  return at;
}

// Whether every object of the schema that lists properties also refuses others (or says what they are).
bool is_closed(const Json& part) {
  if (part.is_object() && part.contains("properties") && part.value("type", "") == "object" &&
      !part.contains("additionalProperties")) {
    return false;
  }
  if (!part.is_structured()) return true;
  for (const Json& inner : part) {
    if (!is_closed(inner)) return false;
  }
  return true;
}

// Lines of the template that may be uncommented: they are keys.
bool is_commented_key(const std::string& line) {
  const std::size_t slashes = line.find("// ");
  if (slashes == std::string::npos || line.find_first_not_of(' ') != slashes) return false;
  const std::string rest = line.substr(slashes + 3);
  return rest.rfind("\"", 0) == 0 || rest.rfind(", \"", 0) == 0;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string uncommented(std::string line) { return line.replace(line.find("// "), 3, ""); }

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("The schema has every row of the table, with its bounds") {
  CHECK(schema()["$schema"] == "http://json-schema.org/draft-07/schema#");
  std::vector<const FieldInfo*> rows;
  for (const auto& field : scenario_fields()) rows.push_back(&field);
  for (const auto& field : measured_fields()) rows.push_back(&field);
  for (const FieldInfo* row : rows) {
    if (row->path == "model.*") continue;  // by the zoo's own keys, below
    INFO(row->path);
    const Json leaf = schema_of(row->path);
    REQUIRE(leaf.is_object());
    CHECK_THAT(leaf["description"].get<std::string>(), Contains(row->doc));
    if (!row->unit.empty()) CHECK_THAT(leaf["description"].get<std::string>(), Contains(row->unit));
    if (row->type == FieldType::integer || row->type == FieldType::number) {
      CHECK(leaf["maximum"] == row->range.high);
      CHECK(leaf[row->range.above ? "exclusiveMinimum" : "minimum"] == row->range.low);
    }
    if (row->type == FieldType::choice) CHECK(leaf["enum"] == row->choices);
  }
  CHECK(schema_of("model.lstm_hidden")["type"] == "number");
  CHECK(schema_of("model.zoo")["enum"].size() == models::zoo_entries(DataStore()).size());
}

TEST_CASE("The schema is closed, says what is required, and gives the structs' defaults") {
  CHECK(is_closed(schema()));
  CHECK(schema()["required"] == Json({"foretrain", "model", "training", "cluster"}));
  CHECK(schema()["properties"]["training"]["required"] == Json({"micro_batch"}));
  CHECK(schema_of("measured[].step_seconds")["type"] == "number");
  CHECK(schema_of("training.optimizer")["default"] == sim::Training().optimizer);
  CHECK(schema_of("cluster.oversubscription")["default"] == sim::ClusterChoice().oversubscription);
  CHECK_FALSE(schema_of("cluster.price_usd_per_hour").contains("default"));
  const Json& option = schema()["properties"]["options"]["items"];
  CHECK(option["properties"]["cluster.gpus"]["anyOf"][1]["items"]["maximum"] == 1048576);
  CHECK(option["patternProperties"].contains("^stack\\.options\\.[^.]+$"));
}

TEST_CASE("The template is a scenario that reads as it stands, with the values it shows") {
  const std::string text = scenario_template();
  const sim::Question question = read(text);
  const Json json = parse_json(text, "template");
  std::size_t shown = 0;
  for (const auto& field : scenario_fields()) {
    if (!field.shown) continue;
    INFO(field.path);
    std::string pointer = "/" + field.path;
    for (char& c : pointer) c = c == '.' ? '/' : c;
    Json written;
    field.write(question.base, written);
    CHECK(json[Json::json_pointer(pointer)] == written);
    ++shown;
  }
  CHECK(shown > 10);
  CHECK(question.options.size() == 2);
  CHECK(write_scenario(read(write_scenario(question.base).dump()).base) == write_scenario(question.base));
}

TEST_CASE("The template names every key, and any line of it may be uncommented") {
  const std::string text = scenario_template();
  for (const auto& field : scenario_fields()) {
    if (field.numbers || field.path == "$schema") continue;
    CHECK_THAT(text, Contains("\"" + key_of(field.path) + "\": " + field.example));
    CHECK(text.find("// " + field.doc.substr(0, field.doc.find(' '))) != std::string::npos);
  }
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string> all = lines;
  int commented = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].size() < 140);
    if (!is_commented_key(lines[i])) continue;
    ++commented;
    std::vector<std::string> one = lines;
    one[i] = all[i] = uncommented(lines[i]);
    INFO(one[i]);
    CHECK_NOTHROW(parse_json(text_of(one), "template"));
  }
  CHECK(commented > 20);
  CHECK_NOTHROW(parse_json(text_of(all), "template"));
}

TEST_CASE("docs/scenario.md is what the field table says (test-scenarios [update-docs] writes it)") {
  CHECK(read_file(page_path) == scenario_page());
}

TEST_CASE("Write docs/scenario.md", "[.][update-docs]") {
  write_file(page_path, scenario_page());
  SUCCEED();
}
