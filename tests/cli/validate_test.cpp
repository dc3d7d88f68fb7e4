// The validate command on a slice of the published curves.
#include <chrono>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/gate.h"
#include "cli/progress.h"
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

// The corpus, every 40th curve of it: 9 families of most sources.
class Slice {
 public:
  Slice() : table_(read_file(source_directory() + "/tests/truth/speedup_families.csv"), "families") {
    for (std::size_t i = 0; i < table_.rows().size(); i += 40) rows_.push_back(table_.rows()[i].fields);
  }
  [[nodiscard]] std::vector<Fields>& rows() { return rows_; }
  [[nodiscard]] std::string& field(std::size_t row, const char* column) { return rows_[row][table_.column(column)]; }
  [[nodiscard]] std::string text() const { return text_of(rows_); }
  [[nodiscard]] std::string text_of(const std::vector<Fields>& rows) const {
    std::string text = line_of(table_.columns());
    for (const Fields& row : rows) text += line_of(row);
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

// Every number of a list but the first, times `factor`.
std::string rest_changed(const std::string& list, double factor) {
  std::istringstream words(list);
  std::ostringstream changed;
  std::string word;
  for (bool first = true; words >> word; first = false) {
    changed << (first ? word : " " + std::to_string(std::stod(word) * factor));
  }
  return changed.str();
}

}  // namespace

TEST_CASE("validate keeps its contract") {
  const Json result = json_of(validated(Slice().text()));
  CHECK(result["foretrain_result"] == 1);
  CHECK(result["command"] == "validate");
  CHECK_FALSE(result["input_digest"].get<std::string>().empty());
  CHECK(result["profiles"].is_array());
  std::map<std::string, std::int64_t> smallest;
  std::int64_t declined = 0;
  std::map<std::string, int> families;
  for (const auto& row : result["rows"]) {
    ++families[row["id"].get<std::string>()];
    if (row.contains("reason")) {
      ++declined;
      CHECK(row.size() == 2);
      continue;
    }
    CHECK(row.size() == 6);
    CHECK(row["low"].get<double>() < row["predicted"].get<double>());
    CHECK(row["predicted"].get<double>() < row["high"].get<double>());
    CHECK(row["measured"].get<double>() > 0);
  }
  const Json& overall = result["overall"];
  CHECK(families.size() == 9);
  CHECK(overall["rows"] == 9);
  CHECK(overall["unsupported"] == declined);
  CHECK(overall["predicted"] == 9 - declined);
  CHECK(overall["predicted"].get<int>() >= 5);
  std::int64_t rows = 0;
  for (const auto& group : result["groups"]) rows += group["rows"].get<std::int64_t>();
  CHECK(rows == 9);
}

TEST_CASE("predictions do not depend on what was measured beside the anchor") {
  Slice slice;
  const Json before = json_of(validated(slice.text()));
  for (std::size_t row = 0; row < slice.rows().size(); ++row) {
    for (const char* column : {"values", "speedup", "efficiency", "step_ms"}) {
      slice.field(row, column) = rest_changed(slice.field(row, column), 0.5 + 0.1 * static_cast<double>(row));
    }
    slice.field(row, "added_ms_vs_base") = "";
  }
  const Json after = json_of(validated(slice.text()));
  REQUIRE(after["rows"].size() == before["rows"].size());
  int measured_otherwise = 0;
  for (std::size_t i = 0; i < before["rows"].size(); ++i) {
    const Json &one = before["rows"][i], &other = after["rows"][i];
    CHECK(one["id"] == other["id"]);
    if (one.contains("reason")) continue;
    for (const char* key : {"gpus", "predicted", "low", "high"}) CHECK(one[key] == other[key]);
    measured_otherwise += one["measured"] != other["measured"] ? 1 : 0;
  }
  CHECK(measured_otherwise >= 5);
  // The anchor's own value is what predictions rest on: a compute-bound step twice as long scales better.
  slice.field(0, "values") = "1" + slice.field(0, "values");
  CHECK(json_of(validated(slice.text()))["rows"] != after["rows"]);
}

TEST_CASE("the number of workers changes no byte") {
  const std::string csv = Slice().text();
  const Outcome one = validated(csv, {"--json", "-", "--workers", "1"});
  CHECK(one.code == 0);
  CHECK(one.out == validated(csv, {"--json", "-", "--workers", "3"}).out);
}

TEST_CASE("several files are one corpus, with each family once") {
  const TemporaryDirectory folder;
  Slice slice;
  const std::vector<Fields> all = slice.rows();
  write_file(folder.file("a.csv"), slice.text_of({all.begin(), all.begin() + 4}));
  write_file(folder.file("b.csv"), slice.text_of({all.begin() + 4, all.end()}));
  const Json joined = json_of(foretrain_with({"validate", folder.file("a.csv"), folder.file("b.csv"), "--json", "-"}));
  const Json whole = json_of(validated(slice.text()));
  CHECK(joined["rows"] == whole["rows"]);
  CHECK(joined["overall"] == whole["overall"]);

  const Outcome twice = foretrain_with({"validate", folder.file("a.csv"), folder.file("a.csv")});
  CHECK(twice.code == 2);
  CHECK(twice.err.find("is in") != std::string::npos);
  CHECK(foretrain_with({"validate", "-", "-"}).code == 2);
}

TEST_CASE("the kind of a file is known by its header") {
  const Outcome incomplete = validated("id,file,gpus,tp,pp,dp,step_time_s\nr1,a.csv,8,1,1,8,2.5\n");
  CHECK(incomplete.code == 2);
  CHECK(incomplete.out.empty());
  CHECK(incomplete.err.find("this is no table of training runs") != std::string::npos);
  CHECK(incomplete.err.find("micro_batch") != std::string::npos);

  const Outcome something = validated("family_id,file,gpus,values\nF1,a.csv,1 2,10 19\n");
  CHECK(something.code == 2);
  CHECK(something.err.find("scaling, batch, source") != std::string::npos);
  CHECK(validated("").code == 2);
  CHECK(foretrain_with({"validate"}).code == 2);
  CHECK(foretrain_with({"validate", "/no/such/file.csv"}).code == 2);
}

TEST_CASE("a gate names every bar that is not met and exits 3") {
  const TemporaryDirectory folder;
  const std::string csv = Slice().text(), gate = folder.file("gate.json");
  write_file(gate, R"({"overall.mape": {"max": 10}, "overall.predicted": {"min": 1, "max": 9}})");
  CHECK(validated(csv, {"-q", "--gate", gate}).code == 0);
  write_file(gate, R"({"overall.mape": {"max": 1e-9}, "overall.rows": {"min": 10}, "overall.points": {"min": 1}})");
  const Outcome unmet = validated(csv, {"-q", "--gate", gate, "--require", "overall.rows==8"});
  CHECK(unmet.code == 3);
  CHECK(unmet.out.empty());
  CHECK(unmet.err.find("not met: overall.mape is ") != std::string::npos);
  CHECK(unmet.err.find("not met: overall.rows is 9, required >= 10") != std::string::npos);
  CHECK(unmet.err.find("not met: overall.rows is 9, required == 8") != std::string::npos);
  CHECK(unmet.err.find("overall.points") == std::string::npos);
}

TEST_CASE("a killed worker makes validate fail, after the result and whatever the gate says") {
  const TemporaryDirectory folder;
  write_file(folder.file("a.csv"), Slice().text());
  for (const std::string bar : {R"({"overall.rows": {"min": 1}})", R"({"overall.rows": {"min": 10}})"}) {
    write_file(folder.file("gate.json"), bar);
    const Outcome outcome = in_shell(
        "foretrain validate a.csv --workers 1 --gate gate.json --json result.json -q & own=$!\n"
        "until read worker rest < /proc/$own/task/$own/children || [ -n \"$worker\" ]; do\n"  // no line end there
        "  kill -0 $own || exit 99\n"
        "  sleep 0.02\n"
        "done\n"
        "kill -9 $worker; wait $own",
        folder.path());
    INFO(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("foretrain: 1 family was lost") != std::string::npos);
    CHECK((outcome.err.find("not met: overall.rows") != std::string::npos) == (bar.find("10") != std::string::npos));
    const std::string result = read_file(folder.file("result.json"));
    CHECK(result.find("its process was ended by signal 9") != std::string::npos);
    CHECK(nlohmann::ordered_json::parse(result)["overall"]["rows"] == 9);
  }
}

TEST_CASE("a bar on nothing is found before the work") {
  const TemporaryDirectory folder;
  const std::string gate = folder.file("gate.json");
  write_file(gate, R"({"overall.mapes": {"max": 0.1}})");
  const Outcome misspelt = validated(Slice().text(), {"--gate", gate});
  CHECK(misspelt.code == 2);
  CHECK(misspelt.err.find("did you mean overall.mape?") != std::string::npos);
  CHECK(misspelt.err.find("gate.json") != std::string::npos);
}

TEST_CASE("gate files are read strictly") {
  CHECK(cli::gate_requirements(R"({"overall.mape": {"min": 0.01, "max": 0.08}})", "g") ==
        Fields{"overall.mape>=0.01", "overall.mape<=0.08"});
  for (const char* bad : {"{}", "[]", R"({"a": {}})", R"({"a": 1})", R"({"a": {"maximum": 1}})",
                          R"({"a<b": {"max": 1}})", R"({"a": {"max": "1"}})", R"({"a": {"max": 1})"}) {
    INFO(bad);
    CHECK_THROWS_AS(cli::gate_requirements(bad, "g"), Error);
  }
}

TEST_CASE("the track record is written and says what it is of") {
  const TemporaryDirectory folder;
  const std::string file = folder.file("record.json");
  const Json result = json_of(validated(Slice().text(), {"--json", "-", "--save-track-record", file}));
  const Json record = nlohmann::ordered_json::parse(read_file(file));
  CHECK(record["foretrain_track_record"] == 1);
  CHECK(record["input_digest"] == result["input_digest"]);
  std::int64_t points = 0;
  for (const auto& kind : record["kinds"]) points += kind["points"].get<std::int64_t>();
  CHECK(points == result["overall"]["points"]);
}

TEST_CASE("outputs never overwrite what is validated or the gate") {
  const TemporaryDirectory folder;
  write_file(folder.file("a.csv"), Slice().text());
  write_file(folder.file("g.json"), R"({"overall.mape": {"max": 10}})");
  CHECK(foretrain_with({"validate", folder.file("a.csv"), "--csv", folder.file("a.csv")}).code == 2);
  CHECK(foretrain_with({"validate", folder.file("a.csv"), "--gate", folder.file("g.json"), "--save-track-record",
                        folder.file("g.json")})
            .code == 2);
  CHECK(read_file(folder.file("a.csv")) == Slice().text());
}

TEST_CASE("validate counts on a terminal, and an interrupt ends it and its workers at once") {
  Call call;
  call.arguments = {"validate", source_directory() + "/tests/truth/speedup_families.csv", "--workers", "1"};
  call.terminal = Call::Terminal::err;
  call.interrupt_after_milliseconds = 3500;
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run(call);  // returns when nobody, no worker either, has the terminal open
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  CHECK(outcome.code == 130);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find(" of 324 families, ") != std::string::npos);
}

TEST_CASE("counted progress says how much is left at this pace") {
  // 80 families took 20 s, the other 240 take three times that.
  CHECK(cli::counted_progress_line("families", 80, 320, 20) == "80 of 320 families, 20 s, about 60 s left");
  CHECK(cli::counted_progress_line("families", 0, 320, 2) == "0 of 320 families, 2 s");
}
