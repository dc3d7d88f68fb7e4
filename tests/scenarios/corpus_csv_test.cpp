// Tables of curves as text: what is read, what is refused and where the message points.
#include <string>
#include <vector>

#include "base/error.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/families.h"
#include "scenarios/corpus/family_row.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;

namespace {

struct Complaint {
  std::string what, where, hint;
};

template <class Action>
Complaint complaint_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.what(), error.where(), error.hint()};
  }
  FAIL("nothing was refused");
  return {};
}

Complaint table_complaint(const std::string& text) {
  return complaint_of([&] { CsvTable(text, "t.csv"); });
}

Complaint row_complaint(const Columns& changes) {
  return complaint_of([&] { (void)read_families(table_of({plain_row(changes)}), "t.csv", shared_catalogue()); });
}

FamilyRow row_with(const Columns& changes) {
  return read_family_rows(CsvTable(table_of({plain_row(changes)}), "t.csv")).front();
}

}  // namespace

TEST_CASE("fields may hold commas, quotes and line ends, and rows know their line") {
  const CsvTable table("a,b\r\n\"1,5\",\"say \"\"x\"\"\"\n\n\"two\nlines\",\nlast,row", "t.csv");
  REQUIRE(table.rows().size() == 3);
  CHECK(table.columns() == std::vector<std::string>{"a", "b"});
  CHECK(table.rows()[0].fields == std::vector<std::string>{"1,5", "say \"x\""});
  CHECK(table.rows()[1].fields == std::vector<std::string>{"two\nlines", ""});
  CHECK(table.rows()[1].line == 4);  // header, row, empty line
  CHECK(table.rows()[2].fields == std::vector<std::string>{"last", "row"});
  CHECK(table.rows()[2].line == 6);
  CHECK(CsvTable("\xEF\xBB\xBFx,y\n1,2\n", "t.csv").column("x") == 0);
  CHECK(CsvTable("x,y\n1,\n", "t.csv").rows()[0].fields == std::vector<std::string>{"1", ""});
}

TEST_CASE("a text that is no table is refused with its line") {
  CHECK(table_complaint("").what == "the table is empty");
  CHECK(table_complaint("\n\n").what == "the table is empty");
  CHECK(table_complaint("a,b\n1,2\n1,2,3\n").where == "t.csv:3");
  CHECK(table_complaint("a,b\n1\n").what == "1 fields, but the header has 2");
  CHECK(table_complaint("a,b\n\"1,2\n3,4\n").where == "t.csv:2");
  CHECK(table_complaint("a,b\n\"1\"x,2\n").what == "text behind the closing quote of a field");
  CHECK(table_complaint("a,b\n1\"2,3\n").what == "a quote inside a field that does not begin with one");
  CHECK(table_complaint("a,b,a\n1,2,3\n").what == "the column \"a\" is there twice");
  CHECK(table_complaint(std::string("a,b\n1,\0\n", 8)).what == "the control character \\x00");
  CHECK(table_complaint("a,b\n1,\xFF\n").where == "t.csv:2");
  CHECK(table_complaint("a\n" + std::string(20000, 'x')).what == "a field of more than 16384 bytes");
  CHECK(table_complaint(std::string((std::size_t{16} << 20) + 1, 'x')).what ==
        "a table of 16.0 MiB, more than 16.0 MiB");
  CHECK(complaint_of([] { (void)CsvTable("family_ids,b\n", "t.csv").column("family_id"); }).hint ==
        "did you mean \"family_ids\"?");
}

TEST_CASE("what another program saved differently is refused with the way to save it") {
  const Complaint semicolons = table_complaint("family_id;gpus;values\nF1;1 2;10 19\n");
  CHECK(semicolons.what == "the columns are separated by semicolons");
  CHECK(semicolons.where == "t.csv:1");
  CHECK(semicolons.hint.find("commas") != std::string::npos);
  CHECK(table_complaint("a\tb\n1\t2\n").what == "the columns are separated by tabs");
  CHECK(CsvTable("a;b,c\n1,2\n", "t.csv").columns().size() == 2);

  const Complaint carriage_returns = table_complaint("a,b\r1,2\r");
  CHECK(carriage_returns.what == "a carriage return without a line feed ends no line");
  CHECK(carriage_returns.hint.find("line ends") != std::string::npos);
  CHECK(CsvTable("a\n\"1\r2\"\n", "t.csv").rows()[0].fields[0] == "1\r2");
}

TEST_CASE("whatever is wrong with a table, the message says what to do") {
  for (const std::string text : {"", "a,b\n1\n", "a,b\n\"1,2\n", "a,b\n\"1\"x,2\n", "a,b\n1\"2,3\n", "a,b,a\n1,2,3\n",
                                 "a,b\n1,\x01\n", "a,b\n1,\xFF\n", "a;b\n", "a\r1\r"}) {
    INFO(text);
    CHECK_FALSE(table_complaint(text).hint.empty());
  }
  CHECK(table_complaint("a,b\n1,\xFF\n").hint.find("UTF-8") != std::string::npos);
  CHECK_FALSE(table_complaint("a\n" + std::string(20000, 'x')).hint.empty());
  CHECK_FALSE(table_complaint(std::string(2000, ',')).hint.empty());
  CHECK_FALSE(row_complaint({{"family_id", ""}}).hint.empty());
}

TEST_CASE("every column that is read is needed, others may be there") {
  const std::string whole = table_of({plain_row()});
  CHECK_NOTHROW(read_families(whole, "t.csv", shared_catalogue()));
  for (const char* column : {"family_id", "inter_node", "scaling", "values", "model"}) {
    const std::string typo = std::string("X") + column;
    std::string renamed = whole;
    renamed.replace(renamed.find(column), std::string(column).size(), typo);
    const Complaint complaint = complaint_of([&] { (void)read_families(renamed, "t.csv", shared_catalogue()); });
    CHECK(complaint.what == "the column \"" + std::string(column) + "\" is missing");
    CHECK(complaint.where == "t.csv:1");
    CHECK(complaint.hint == "did you mean \"" + typo + "\"?");
  }
  CHECK(complaint_of([] { (void)read_families(table_of({}), "t.csv", shared_catalogue()); }).what ==
        "the table has no rows");
}

TEST_CASE("numbers are checked and the message names line and column") {
  const auto refused = [](const char* column, const char* text) {
    const Complaint complaint = row_complaint({{column, text}});
    CHECK(complaint.where == "t.csv:2: " + std::string(column));
    return complaint.what;
  };
  CHECK(refused("values", "640 4800") == "2 values for 3 numbers of GPUs");
  CHECK(refused("values", "640 fast 9000") == "\"fast\" is no number above 0");
  CHECK(refused("values", "640 nan 9000") == "\"nan\" is no number above 0");
  CHECK(refused("values", "640 1e999 9000") == "\"1e999\" is no number above 0");
  CHECK(refused("values", "640 0 9000") == "\"0\" is no number above 0");
  CHECK(refused("values", "640 -4800 9000") == "\"-4800\" is no number above 0");
  CHECK(refused("values", "640 0x10 9000") == "\"0x10\" is no number above 0");
  CHECK(refused("values", " ") == "no numbers");
  CHECK(refused("gpus", "1 16 8") == "8 stands behind 16");
  CHECK(refused("gpus", "1 8 8") == "8 stands behind 8");
  CHECK(refused("gpus", "1 2.5 8") == "2.50 is no number of GPUs");
  CHECK(refused("gpus", "1 8 1e9") == "1000000000 is no number of GPUs");
  CHECK(refused("scaling", "linear") == "the kind of scaling \"linear\" is not known");
  CHECK(refused("batch", "64") == "\"64\" is no batch");
  CHECK(refused("batch", "0/GPU") == "\"0/GPU\" is no batch");
  CHECK(refused("batch", "1.5/GPU") == "\"1.5/GPU\" is no batch");
  CHECK(refused("batch", "global 64") == "\"global 64\" is no batch");
  CHECK(refused("family_id", "") == "no identifier");
  CHECK(refused("model", std::string(1001, 'x').c_str()) == "a text of more than 1000 bytes");
  const std::string twice = table_of({plain_row(), plain_row()});
  CHECK(complaint_of([&] { (void)read_families(twice, "t.csv", shared_catalogue()); }).where == "t.csv:3: family_id");
}

TEST_CASE("a batch that is not stated must not be stated") {
  CHECK(row_complaint({{"scaling", "batch not stated"}}).where == "t.csv:2: batch");
  CHECK(row_with({{"scaling", "batch not stated"}, {"batch", ""}}).rule == BatchRule::not_stated);
  CHECK(row_with({{"batch", "2.56e+06/GPU"}}).batch == 2560000);
}

TEST_CASE("measured speedups are ratios of throughput") {
  CHECK(measured_speedup(row_with({}), 0, 2) == Approx(9000. / 640.).epsilon(1e-12));
  // Seconds per step: 16 GPUs train 16 times as much in 0.125 s instead of 0.1 s.
  const Columns seconds = {{"metric", "step_time_s"}, {"values", "0.1 0.11 0.125"}};
  CHECK(measured_speedup(row_with(seconds), 0, 2) == Approx(16 * 0.1 / 0.125).epsilon(1e-12));
  // Under strong scaling they train the same.
  Columns strong = seconds;
  strong["scaling"] = "strong (constant global batch)";
  strong["batch"] = "global 64";
  CHECK(measured_speedup(row_with(strong), 0, 2) == Approx(0.1 / 0.125).epsilon(1e-12));
}
