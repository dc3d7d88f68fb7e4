#include "reports/json.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/reports/example_results.h"
#include "tests/reports/golden.h"

using namespace foretrain;
using namespace foretrain::reports;
using namespace foretrain::reports::test;

namespace {

Json name_only(const sim::Scenario& scenario) { return Json{{"foretrain", 1}, {"name", scenario.name}}; }

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> result;
  for (const auto& item : json.items()) result.push_back(item.key());
  return result;
}

int count_key(const Json& json, const std::string& key) {
  int count = 0;
  if (json.is_object()) {
    for (const auto& item : json.items()) count += (item.key() == key ? 1 : 0) + count_key(item.value(), key);
  } else if (json.is_array()) {
    for (const auto& item : json) count += count_key(item, key);
  }
  return count;
}

}  // namespace

TEST_CASE("result files are as reviewed") {
  check_golden("predict.json", json_text(result_json(predict_example(), name_only)));
  check_golden("awkward.json", json_text(result_json(awkward_example(), name_only)));
  check_golden("explain.json", json_text(result_json(explain_example(), name_only)));
  check_golden("decide.json", json_text(result_json(decide_example(), name_only)));
}

TEST_CASE("every result begins with what it is") {
  const std::vector<std::string> head = {"foretrain_result", "command",  "version",
                                         "input_digest",     "profiles", "settings"};
  for (const Json& json : {result_json(predict_example(), name_only), result_json(decide_example(), name_only)}) {
    const std::vector<std::string> all = keys(json);
    CHECK(std::vector<std::string>(all.begin(), all.begin() + 6) == head);
    CHECK(json["foretrain_result"] == 1);
  }
}

TEST_CASE("the prediction carries the contract's keys, step_time once") {
  const Json prediction = result_json(predict_example(), name_only)["prediction"];
  CHECK(keys(prediction) ==
        std::vector<std::string>{"step_time", "throughput", "speedup", "efficiency", "breakdown", "one_gpu_fits",
                                 "sharding", "memory", "cost", "energy", "cost_per_hour", "epoch_time", "run_time", "data_parallel", "accumulation",
                                 "global_batch", "nodes", "binding", "track_record", "run_record", "extrapolating", "warnings", "parameters",
                                 "events"});
  CHECK(count_key(prediction, "step_time") == 1);
  CHECK(keys(prediction["step_time"]) == std::vector<std::string>{"value", "low", "high", "unit", "provenance"});
  CHECK(keys(prediction["memory"]) ==
        std::vector<std::string>{"parameters", "gradients", "optimizer", "activations", "buckets", "workspace",
                                 "framework", "total", "capacity", "fits", "advice"});
}

TEST_CASE("the breakdown is flat and sums to the step") {
  // 35 + 70 + 5 + 45 + 5 = 160 ms
  const Json prediction = result_json(predict_example(), name_only)["prediction"];
  double sum = 0;
  for (const auto& part : prediction["breakdown"]) {
    CHECK(part["unit"] == "s");
    sum += part["value"].get<double>();
  }
  CHECK(sum == Approx(prediction["step_time"]["value"].get<double>()).epsilon(1e-12));
}

TEST_CASE("what is not known is null and says why") {
  const Json cost = result_json(awkward_example(), name_only)["prediction"]["cost"];
  CHECK(cost["value"].is_null());
  CHECK(cost["low"].is_null());
  CHECK(cost["high"].is_null());
  CHECK(cost["provenance"] == "no price is published for this machine");
}

TEST_CASE("decide carries the verdict, the base and every option with its scenario") {
  const Json json = result_json(decide_example(), name_only);
  CHECK(json["answer"] == "Yes");
  CHECK(json["verdict"].get<std::string>().rfind("Yes", 0) == 0);
  CHECK(json["recommended"] == "1 × p3.8xlarge (4 GPUs)");
  CHECK(json["base"]["name"] == "1 × p3.2xlarge (1 GPU)");
  REQUIRE(json["alternatives"].size() == 2);
  const Json& four = json["alternatives"][0];
  CHECK(keys(four) == std::vector<std::string>{"name", "scenario", "prediction", "gain", "odds_faster_than_base",
                                               "independent_runs"});
  CHECK(four["gain"]["value"] == 3.5);
  CHECK(four["independent_runs"]["value"] == 2132.0);
  CHECK(json["alternatives"][1]["independent_runs"]["value"].is_null());
}

TEST_CASE("staying with the base recommends the base") {
  DecideResult result = decide_example();
  result.decision.recommended = -1;
  CHECK(result_json(result, name_only)["recommended"] == "1 × p3.2xlarge (1 GPU)");
}

TEST_CASE("the file reads back with the strict reader, and is the same each time") {
  const std::string text = json_text(result_json(decide_example(), name_only));
  CHECK(text == json_text(result_json(decide_example(), name_only)));
  CHECK(nlohmann::ordered_json::parse(text) == result_json(decide_example(), name_only));
}

TEST_CASE("JSON hides no control character and changes no value") {
  Json json;
  json["name"] = "\x1b[1m\xC2\x9B" "31m \xE2\x80\xAE gpj \xE2\x81\xA6 \x7F größer";
  const std::string text = json_text(json);
  CHECK(text == "{\n  \"name\": \"\\u001b[1m\\u009b31m \\u202e gpj \\u2066 \\u007f größer\"\n}\n");
  CHECK(Json::parse(text) == json);
}
