#include "cli/measured_input.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/families.h"
#include "scenarios/corpus/family_row.h"

namespace foretrain::cli {

namespace {

using Names = std::vector<std::string>;

Names missing_in(const Names& columns, const Names& wanted) {
  Names missing;
  for (const std::string& name : wanted) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) missing.push_back(name);
  }
  return missing;
}

// The kind of a file is known by its header.
void check_header(const std::string& text, const std::string& where) {
  const Names columns = scenarios::CsvTable(text, where).columns();
  Names of_families = {"family_id", "file", "scaling", "batch", "gpus", "values"};
  const Names& texts = scenarios::text_columns();
  of_families.insert(of_families.end(), texts.begin(), texts.end());
  const Names missing = missing_in(columns, of_families);
  if (missing.empty()) return;
  if (missing_in(columns, {"tp", "pp", "step_time_s"}).empty()) {
    throw Error("these are runs of large language models; this version validates speedup families only", where,
                "a table of speedup families has one curve per row (docs/data.md)");
  }
  throw Error(
      fmt::format("this is no table of speedup families: the column{} {} {} missing", missing.size() == 1 ? "" : "s",
                  printable(joined(missing), 400), missing.size() == 1 ? "is" : "are"),
      where + ":1", "docs/data.md describes the columns");
}

class Joined {
 public:
  void add(sim::FamilyCorpus more, const std::string& where) {
    for (const auto& family : more.families) check_new(family.id, where);
    for (const auto& family : more.declined) check_new(family.id, where);
    std::move(more.families.begin(), more.families.end(), std::back_inserter(all_.families));
    std::move(more.declined.begin(), more.declined.end(), std::back_inserter(all_.declined));
  }
  [[nodiscard]] sim::FamilyCorpus take() { return std::move(all_); }

 private:
  void check_new(const std::string& id, const std::string& where) {
    const auto [seen, is_new] = file_of_.try_emplace(id, where);
    if (is_new) return;
    throw Error(fmt::format("the family {} is in {} already", quoted(id), seen->second), where,
                "give every file and every family once");
  }

  sim::FamilyCorpus all_;
  std::map<std::string, std::string> file_of_;
};

}  // namespace

MeasuredInput read_measured_input(const Arguments& arguments, const calibrate::Catalogue& catalogue) {
  if (arguments.files.empty()) {
    throw Error("nothing to validate against: give a CSV file of measured runs", "foretrain validate",
                "foretrain validate --help has examples");
  }
  if (std::count(arguments.files.begin(), arguments.files.end(), "-") > 1) {
    throw Error("stdin can be read once", "foretrain validate", "give - once");
  }
  Joined joined;
  std::string texts;
  for (const std::string& file : arguments.files) {
    const std::string text = read_file(file);
    const std::string where = file == "-" ? "standard input" : printable(file);
    check_header(text, where);
    joined.add(scenarios::read_families(text, where, catalogue), where);
    texts += text + '\0';
  }
  return {joined.take(), digest(texts)};
}

}  // namespace foretrain::cli
