// What is reported of a validation, in every form.
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "reports/validate_tables.h"
#include "tests/catch.h"
#include "tests/reports/golden.h"

using namespace foretrain;
using namespace foretrain::reports;
using namespace foretrain::reports::test;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

sim::ValidatedPoint point(const std::string& id, const std::string& group, std::int64_t gpus, double measured,
                          double predicted) {
  sim::ValidatedPoint result;
  result.id = id;
  result.group = group;
  result.kind = "single node";
  result.gpus = gpus;
  result.measured = measured;
  result.predicted = predicted;
  result.low = 0.8 * predicted;
  result.high = 1.1 * predicted;
  result.baselines = {{"linear", static_cast<double>(gpus)}, {"constant_efficiency", 0.9 * static_cast<double>(gpus)}};
  result.largest_loss = "exposed_all_reduce";
  result.largest_loss_share = 0.12;
  return result;
}

sim::GroupScore score(const std::string& name, std::int64_t predicted, std::int64_t unsupported) {
  sim::GroupScore result;
  result.name = name;
  result.rows = predicted + unsupported;
  result.predicted = predicted;
  result.unsupported = unsupported;
  result.points = 2 * predicted;
  if (predicted == 0) {
    result.mape = result.median_ape = result.bias = result.within_10_percent = unknown;
    result.coverage90 = result.median_width = result.skill = result.median_skill = unknown;
    return result;
  }
  result.mape = 0.063;
  result.median_ape = 0.035;
  result.bias = -0.003;
  result.within_10_percent = 0.79;
  result.coverage90 = 0.91;
  result.median_width = 0.3;
  result.skill = 0.618;          // 1 − 0.063 / 0.165
  result.median_skill = 0.4068;  // 1 − 0.035 / 0.059
  result.baselines = {{"linear", {0.253, 0.108}}, {"constant_efficiency", {0.165, 0.059}}};
  return result;
}

ValidateResult example() {
  ValidateResult result;
  result.head = {"validate", "0.1.0", "0123456789abcdef", {}, true, 0, 1};
  sim::Validation& validation = result.validation;
  validation.points = {point("F1", "azure", 8, 7.5, 7.0), point("F1", "azure", 16, 8.0, 12.0),
                       point("F2", "a_source_with_a_name_that_is_far_too_long_for_a_column", 8, 6.0, 6.3)};
  validation.points[2].largest_loss.clear();
  validation.points[2].largest_loss_share = 0;
  validation.declined = {{"F3", "azure", "single node", "the model \"\x1b[31mmany words\" is not in the zoo"},
                         {"F4", "azure", "single node", "one number of GPUs"},
                         {"F5", "mxnet", "parameter server", "one number of GPUs"}};
  validation.groups = {score("a_source_with_a_name_that_is_far_too_long_for_a_column", 1, 0), score("azure", 1, 2),
                       score("mxnet", 0, 1)};
  validation.kinds = {score("parameter server", 0, 1), score("single node", 2, 2)};
  validation.overall = score("overall", 2, 3);
  return result;
}

ValidateResult nothing_predicted() {
  ValidateResult result = example();
  result.validation.points.clear();
  result.validation.groups = {score("azure", 0, 5)};
  result.validation.kinds = {score("single node", 0, 5)};
  result.validation.overall = score("overall", 0, 5);
  return result;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

}  // namespace

TEST_CASE("every form of a validation is as reviewed") {
  check_golden("validate.txt", validate_text(example(), {}));
  check_golden("validate_nothing.txt", validate_text(nothing_predicted(), {}));
  check_golden("validate.csv", csv(example()));
  check_golden("validate.md", markdown(example()));
  check_golden("validate.json", json_text(result_json(example())));
  check_golden("track_record.json", track_record_text(example()));
}

TEST_CASE("the verdict on a validation comes first") {
  CHECK(validate_text(example(), {})
            .rfind("Median error 3.5 %, mean 6.3 %, skill 0.62; 90 % intervals cover 91 %.\n", 0) == 0);
  CHECK(validate_text(nothing_predicted(), {}).rfind("Nothing could be predicted of 5 families.\n", 0) == 0);
}

TEST_CASE("the text of a validation fits the page and shows no control characters") {
  for (const ValidateResult& result : {example(), nothing_predicted()}) {
    const std::string text = validate_text(result, {});
    CHECK(widest_line(text) <= 100);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(markdown(result).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("the worst point stands first, and as many as asked for") {
  const Table worst = worst_points_table(example().validation.points, 2);
  REQUIRE(worst.rows.size() == 2);
  CHECK(worst.rows[0][0] == "F1");  // 12 of 8: +50 %
  CHECK(worst.rows[0][2] == "1 → 16");
  CHECK(worst.rows[0][5] == "50 %");
  CHECK(worst.rows[1][5] == "-7 %");  // 7.0 of 7.5
}

TEST_CASE("reasons are counted, the most frequent first") {
  const Table declined = declined_table(example().validation);
  REQUIRE(declined.rows.size() == 2);
  CHECK(declined.rows[0] == std::vector<std::string>{"2", "one number of GPUs", "F4"});
}

TEST_CASE("rows of a validation have the keys of the contract and no others") {
  const Json json = result_json(example());
  REQUIRE(json["rows"].size() == 6);  // 3 points, 3 declined families
  std::vector<std::string> keys;
  for (const auto& item : json["rows"][0].items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"id", "gpus", "measured", "predicted", "low", "high"});
  keys.clear();
  for (const auto& item : json["rows"][3].items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"id", "reason"});
}

TEST_CASE("what is not known of a validation is null") {
  const Json json = result_json(example());
  const Json& mxnet = json["groups"][2];
  CHECK(mxnet["unsupported"] == 1);
  for (const char* key :
       {"mape", "median_ape", "bias", "coverage90", "median_width", "kendall_tau", "regret", "skill"}) {
    INFO(key);
    CHECK(mxnet[key].is_null());
  }
  CHECK(json["overall"]["kendall_tau"].is_null());
  CHECK(json["overall"]["regret"].is_null());
}

TEST_CASE("scores are found by the name of their group") {
  const Json json = scores_by_name_json(example().validation);
  CHECK(json["groups"]["azure"]["median_ape"] == 0.035);
  CHECK(json["kinds"]["single node"]["coverage90"] == 0.91);
}
