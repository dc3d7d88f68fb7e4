#include "scenarios/fields.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/key_hints.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

TEST_CASE("Every row says what it means, once, with an example that it accepts") {
  std::set<std::string> paths;
  for (const auto& field : scenario_fields()) {
    INFO(field.path);
    CHECK(paths.insert(field.path).second);
    CHECK(field.doc.size() > 10);
    CHECK(field.doc.back() == '.');
    if (!field.label.empty()) CHECK_THAT(field.label, Contains("{}"));
    if (field.settable && !field.numbers) CHECK_FALSE(field.label.empty());
    const Json example = Json::parse(field.example);
    const JsonView view(example, "example");
    if (field.numbers) {
      CHECK(view.number(field.range) == example);
    } else {
      sim::Scenario scenario;
      CHECK_NOTHROW(field.read(view, scenario));
    }
  }
}

TEST_CASE("What a row reads, it writes") {
  for (const auto& field : scenario_fields()) {
    if (field.numbers || field.path == "$schema") continue;
    INFO(field.path);
    sim::Scenario scenario;
    const bool total = field.variant == "parameters";
    if (total) scenario.model.kind = models::ModelSource::Kind::totals;
    const Json example = Json::parse(field.example);
    field.read(JsonView(example, "example"), scenario);
    Json written;
    field.write(scenario, written);
    CHECK(written == example);
  }
  for (const auto& field : measured_fields()) {
    INFO(field.path);
    sim::Measured step;
    const Json example = Json::parse(field.example);
    field.read(JsonView(example, "example"), step);
    Json written;
    field.write(step, written);
    CHECK(written == example);
  }
}

TEST_CASE("Ranges are kept at both ends") {
  for (const auto& field : scenario_fields()) {
    const bool is_number = field.type == FieldType::integer || field.type == FieldType::number;
    if (!is_number || field.numbers) continue;
    INFO(field.path);
    sim::Scenario scenario;
    const auto accepts = [&](double value) {
      const Json json = number_json(value);
      try {
        field.read(JsonView(json, "value"), scenario);
        return true;
      } catch (const std::exception&) {
        return false;
      }
    };
    CHECK(accepts(field.range.high));
    CHECK_FALSE(accepts(field.range.high * 2));
    CHECK(accepts(field.range.low) != field.range.above);
    CHECK_FALSE(accepts(field.range.low - 1));
  }
}

TEST_CASE("Dotted keys find their rows") {
  CHECK(find_field("cluster.gpus")->path == "cluster.gpus");
  CHECK(find_field("stack.options.bucket_bytes")->path == "stack.options.*");
  CHECK(find_field("model.hidden")->path == "model.*");
  CHECK(find_field("model.layers")->path == "model.layers");
  for (const std::string path : {"", "cluster", "cluster.", "cluster.gpuz", "stack.options", "stack.options.",
                                 "measured", "model", "gpus", "stack.options.a.b"}) {
    INFO(path);
    CHECK(find_field(path) == nullptr);
  }
}

TEST_CASE("Whole numbers are written without a point") {
  CHECK(number_json(5e6).dump() == "5000000");
  CHECK(number_json(0.25).dump() == "0.25");
  CHECK(number_json(1e300).dump() == "1e+300");
}
