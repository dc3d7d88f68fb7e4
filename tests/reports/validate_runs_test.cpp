// What is reported of validated runs of language models, in every form.
#include <algorithm>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "reports/validate_run_tables.h"
#include "tests/catch.h"
#include "tests/reports/golden.h"

using namespace foretrain;
using namespace foretrain::reports;
using namespace foretrain::reports::test;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

sim::ValidatedRun run(const std::string& id, const std::string& group, double measured, double predicted) {
  sim::ValidatedRun result;
  result.label = {id, group, "A100-80GB", "A", true};
  result.gpus = 512;
  result.plan = "t8 p16 d4 b1";
  result.measured = measured;
  result.predicted = predicted;
  result.low = 0.8 * predicted;
  result.high = 1.2 * predicted;
  result.baselines = {{"utilisation_of_others", 1.3 * measured},
                      {"utilisation_of_group", 1.1 * measured},
                      {"utilisation_and_bubble_of_group", 1.05 * measured}};
  result.largest_part = "pipeline_bubble";
  result.largest_part_share = 0.11;
  return result;
}

sim::RunScore score(const std::string& name, std::int64_t predicted, std::int64_t unsupported) {
  sim::RunScore result;
  sim::GroupScore& errors = result.errors;
  errors.name = name;
  errors.rows = predicted + unsupported;
  errors.predicted = errors.points = predicted;
  errors.unsupported = unsupported;
  if (predicted == 0) {
    errors.mape = errors.median_ape = errors.bias = errors.within_10_percent = unknown;
    errors.coverage90 = errors.median_width = errors.skill = errors.median_skill = result.fair_skill = unknown;
    return result;
  }
  errors.mape = 0.08;
  errors.median_ape = 0.05;
  errors.bias = -0.02;
  errors.within_10_percent = 0.7;
  errors.coverage90 = 0.88;
  errors.median_width = 0.35;
  errors.skill = 0.2;  // 1 − 0.08 / 0.1
  errors.median_skill = 0.5;
  errors.baselines = {{"utilisation_of_others", {0.3, 0.25}},
                      {"utilisation_of_group", {0.12, 0.11}},
                      {"utilisation_and_bubble_of_group", {0.1, 0.1}}};
  result.fair_skill = 1 - 0.08 / 0.3;
  result.ranks = {4, 0.83, 0.021};
  return result;
}

ValidateResult example() {
  ValidateResult result;
  result.head = {"validate", "0.1.0", "0123456789abcdef", {}, true, 0, 1};
  sim::RunValidation& runs = result.validation.runs;
  runs.runs = {run("k1", "korthikanti", 1.42, 1.39), run("k2", "korthikanti", 18.13, 21.0)};
  runs.declined = {{{"m1", "megatron_lm", "H100", "D", true}, "not published: the step time"},
                   {{"q1", "bridge", "GB300", "B", false}, "unsupported: mixture of \x1b[31mexperts"},
                   {{"q2", "bridge", "GB300", "B", false}, "unsupported: mixture of \x1b[31mexperts"}};
  runs.groups = {score("bridge", 0, 2), score("korthikanti", 2, 0), score("megatron_lm", 0, 1)};
  runs.gpu_classes = {score("A100-80GB", 2, 0), score("GB300", 0, 2), score("H100", 0, 1)};
  runs.overall = score("overall", 2, 3);
  runs.comparison = {1, 0.08, 1, 1, 1, 1};
  runs.complete = runs.complete_predicted = 2;
  return result;
}

ValidateResult with_families() {
  ValidateResult result = example();
  sim::ValidatedPoint point;
  point.id = "F1";
  point.group = "azure";
  point.kind = "single node";
  point.gpus = 8;
  point.measured = 7.5;
  point.predicted = 7;
  point.low = 6;
  point.high = 8;
  point.baselines = {{"linear", 8.0}, {"constant_efficiency", 7.2}};
  result.validation.points = {point};
  result.validation.declined = {{"F2", "azure", "single node", "one number of GPUs"}};
  sim::GroupScore azure = score("azure", 1, 1).errors;
  azure.baselines = {{"linear", {0.2, 0.2}}, {"constant_efficiency", {0.1, 0.1}}};
  result.validation.groups = {azure};
  azure.name = "single node";
  result.validation.kinds = {azure};
  azure.name = "overall";
  result.validation.overall = azure;
  result.validation.pooled = azure;
  result.validation.pooled.rows = 7;
  result.validation.pooled.predicted = 3;
  result.validation.pooled.unsupported = 4;
  return result;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  return keys;
}

}  // namespace

TEST_CASE("every form of validated runs is as reviewed") {
  check_golden("validate_runs.txt", validate_text(example(), {}));
  check_golden("validate_runs.csv", csv(example()));
  check_golden("validate_runs.md", markdown(example()));
  check_golden("validate_runs.json", json_text(result_json(example())));
  check_golden("track_record_runs.json", track_record_text(example()));
  check_golden("validate_both.csv", csv(with_families()));
  check_golden("track_record_both.json", track_record_text(with_families()));
}

TEST_CASE("the verdict on runs comes first, and the share of complete runs is said") {
  const std::string text = validate_text(example(), {});
  CHECK(text.rfind("Median error of a step 5.0 %, mean 8.0 %, skill 0.20; 90 % intervals cover 88 %.\n", 0) == 0);
  CHECK(runs_scope(example().validation.runs).find("2 are simulated: 100.0 %") != std::string::npos);
}

TEST_CASE("text of runs fits the page and shows no control characters") {
  for (const ValidateResult& result : {example(), with_families()}) {
    const std::string text = validate_text(result, {});
    CHECK(widest_line(text) <= 100);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(markdown(result).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("rows of runs have the keys of the contract and no others") {
  const Json json = result_json(example());
  REQUIRE(json["rows"].size() == 5);
  CHECK(keys_of(json["rows"][0]) == std::vector<std::string>{"id", "measured", "predicted", "low", "high"});
  CHECK(keys_of(json["rows"][2]) == std::vector<std::string>{"id", "reason"});
  CHECK(json["groups"][1]["kendall_tau"] == 0.83);
  CHECK(json["groups"][1]["regret"] == 0.021);
  CHECK(json["groups"][0]["kendall_tau"].is_null());
  CHECK(json["overall"]["skill"] == 0.2);
  CHECK(json["complete_runs"]["rows"] == 2);
  CHECK_FALSE(json.contains("kinds"));
}

TEST_CASE("of families and runs together each has its own scores beside the common count") {
  const Json json = result_json(with_families());
  CHECK(json["rows"].size() == 7);
  CHECK(json["groups"].size() == 4);
  CHECK(json["overall"]["rows"] == 7);
  CHECK(json["overall_by_kind"]["speedup_families"]["rows"] == 2);
  CHECK(json["overall_by_kind"]["llm_runs"]["rows"] == 5);
  const Json scores = scores_by_name_json(with_families().validation);
  CHECK(scores["groups"]["korthikanti"]["mape"] == 0.08);
  CHECK(scores["groups"]["azure"]["mape"] == 0.08);
  CHECK(scores["gpu_classes"]["A100-80GB"]["regret"] == 0.021);
  CHECK(scores["overall_by_kind"]["llm_runs"]["fair_skill"].get<double>() == Approx(1 - 0.08 / 0.3));
}

TEST_CASE("the worst run stands first, reasons are counted") {
  const Table worst = worst_runs_table(example().validation.runs.runs, 1);
  REQUIRE(worst.rows.size() == 1);
  CHECK(worst.rows[0][0] == "k2");  // 21 of 18.13 s: +16 %
  CHECK(worst.rows[0][6] == "16 %");
  const Table declined = declined_runs_table(example().validation.runs);
  CHECK(declined.rows[0][0] == "2");
  CHECK(declined.rows[1][1] == "not published: the step time");
}
