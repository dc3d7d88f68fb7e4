// The validate command on a slice of the published runs of language models.
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "scenarios/corpus/csv_table.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

using Fields = std::vector<std::string>;

std::string line_of(const Fields& fields) {
  std::string line;
  for (const std::string& field : fields) {
    std::string quoted_field = "\"";
    for (const char c : field) quoted_field += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += (line.empty() ? "" : ",") + quoted_field + '"';
  }
  return line + '\n';
}

// Every 60th run of the table, and one set of alternatives.
class Slice {
 public:
  Slice() : table_(read_file(source_directory() + "/tests/truth/llm_runs.csv"), "runs") {
    for (std::size_t i = 0; i < table_.rows().size(); ++i) {
      const std::string& id = table_.rows()[i].fields[table_.column("id")];
      if (i % 60 == 0 || id.rfind("smx-002", 0) == 0) rows_.push_back(table_.rows()[i].fields);
    }
  }
  [[nodiscard]] std::vector<Fields>& rows() { return rows_; }
  [[nodiscard]] std::string& field(std::size_t row, const char* column) { return rows_[row][table_.column(column)]; }
  [[nodiscard]] std::string text() const {
    std::string text = line_of(table_.columns());
    for (const Fields& row : rows_) text += line_of(row);
    return text;
  }

 private:
  scenarios::CsvTable table_;
  std::vector<Fields> rows_;
};

Outcome validated(const std::string& csv, const Fields& more = {"--json", "-"}) {
  Call call;
  call.arguments = {"validate", "-"};
  call.arguments.insert(call.arguments.end(), more.begin(), more.end());
  call.input = csv;
  return run(call);
}

Json json_of(const Outcome& outcome) {
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::ordered_json::parse(outcome.out);
}

}  // namespace

TEST_CASE("validate keeps its contract for runs of language models") {
  Slice slice;
  const Json result = json_of(validated(slice.text()));
  CHECK(result["foretrain_result"] == 1);
  REQUIRE(result["rows"].size() == slice.rows().size());
  std::int64_t declined = 0;
  for (const auto& row : result["rows"]) {
    if (row.contains("reason")) {
      ++declined;
      CHECK(row.size() == 2);
      continue;
    }
    CHECK(row.size() == 5);
    CHECK(row["low"].get<double>() < row["predicted"].get<double>());
    CHECK(row["predicted"].get<double>() < row["high"].get<double>());
    CHECK(row["measured"].get<double>() > 0);
  }
  const Json& overall = result["overall"];
  CHECK(overall["rows"] == slice.rows().size());
  CHECK(overall["unsupported"] == declined);
  CHECK(overall["predicted"].get<std::int64_t>() + declined == overall["rows"].get<std::int64_t>());
  for (const char* baseline : {"utilisation_of_others", "utilisation_of_group", "utilisation_and_bubble_of_group"}) {
    CHECK(overall["baselines"].contains(baseline));
  }
  std::int64_t rows = 0;
  for (const auto& group : result["groups"]) rows += group["rows"].get<std::int64_t>();
  CHECK(rows == overall["rows"]);
}

TEST_CASE("predictions of runs do not depend on what was measured") {
  Slice slice;
  const Json before = json_of(validated(slice.text()));
  for (std::size_t row = 0; row < slice.rows().size(); ++row) {
    for (const char* column : {"step_time_s", "measured_value", "tokens_per_s_per_gpu"}) {
      std::string& field = slice.field(row, column);
      if (!field.empty()) field = std::to_string(1 + static_cast<int>(row));
    }
  }
  const Json after = json_of(validated(slice.text()));
  REQUIRE(after["rows"].size() == before["rows"].size());
  int predicted = 0;
  for (std::size_t i = 0; i < before["rows"].size(); ++i) {
    const Json &one = before["rows"][i], &other = after["rows"][i];
    CHECK(one["id"] == other["id"]);
    if (one.contains("reason")) {
      CHECK(one["reason"] == other["reason"]);
      continue;
    }
    for (const char* key : {"predicted", "low", "high"}) CHECK(one[key] == other[key]);
    CHECK(one["measured"] != other["measured"]);
    ++predicted;
  }
  CHECK(predicted >= 3);
}

TEST_CASE("families and runs are validated together, and the number of workers changes no byte") {
  const TemporaryDirectory folder;
  Slice slice;
  slice.rows().resize(4);
  write_file(folder.file("runs.csv"), slice.text());
  const std::string all = read_file(source_directory() + "/tests/truth/speedup_families.csv");
  const std::size_t header = all.find('\n') + 1;
  write_file(folder.file("families.csv"), all.substr(0, all.find('\n', header) + 1));
  const auto both = [&](const char* workers) {
    return foretrain_with({"validate", folder.file("families.csv"), folder.file("runs.csv"), "--json", "-", "--workers",
                           workers});
  };
  const Outcome one = both("1");
  const Json result = json_of(one);
  CHECK(one.out == both("3").out);
  CHECK(result["overall"]["rows"] == 5);
  CHECK(result["overall_by_kind"]["speedup_families"]["rows"] == 1);
  CHECK(result["overall_by_kind"]["llm_runs"]["rows"] == 4);
  const Outcome twice = foretrain_with({"validate", folder.file("runs.csv"), folder.file("runs.csv")});
  CHECK(twice.code == 2);
  CHECK(twice.err.find("the run ") != std::string::npos);
}

TEST_CASE("gates and track records know the groups of runs") {
  const TemporaryDirectory folder;
  Slice slice;
  const std::string gate = folder.file("gate.json"), record = folder.file("record.json");
  write_file(gate, R"({"groups.simumax.predicted": {"min": 1}, "complete_runs.predicted": {"min": 1}})");
  CHECK(validated(slice.text(), {"-q", "--gate", gate, "--save-track-record", record}).code == 0);
  const Json saved = nlohmann::ordered_json::parse(read_file(record));
  CHECK(saved["of"] == "runs of language models");
  CHECK(saved["kinds"].empty());
  std::map<std::string, std::int64_t> runs;
  for (const auto& line : saved["runs"]["lines"]) ++runs[line[1].get<std::string>()];  // by source
  CHECK(runs["simumax"] >= 1);
  write_file(gate, R"({"groups.simumax.mape": {"max": 1e-9}})");
  CHECK(validated(slice.text(), {"-q", "--gate", gate}).code == 3);
  write_file(gate, R"({"groups.simumaxx.mape": {"max": 1}})");
  CHECK(validated(slice.text(), {"-q", "--gate", gate}).code == 2);
}

TEST_CASE("the bars that published runs of language models have to clear") {
  const std::string corpus = source_directory() + "/tests/truth/llm_runs.csv";
  const Outcome outcome =
      foretrain_with({"validate", corpus, "-q", "--gate", source_directory() + "/tests/accuracy/llm_runs_gate.json"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}
