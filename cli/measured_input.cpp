#include "cli/measured_input.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/families.h"
#include "scenarios/corpus/family_row.h"
#include "scenarios/corpus/llm_row.h"
#include "scenarios/corpus/llm_runs.h"

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

enum class Kind { families, runs };

// The kind of a file is known by its header.
Kind kind_of(const std::string& text, const std::string& where) {
  const Names columns = scenarios::CsvTable(text, where).columns();
  Names of_families = {"family_id", "file", "scaling", "batch", "gpus", "values"};
  const Names& texts = scenarios::text_columns();
  of_families.insert(of_families.end(), texts.begin(), texts.end());
  const Names missing_of_families = missing_in(columns, of_families);
  if (missing_of_families.empty()) return Kind::families;
  const bool looks_like_runs = missing_in(columns, {"tp", "pp", "step_time_s"}).empty();
  const Names missing = looks_like_runs ? missing_in(columns, scenarios::llm_columns()) : missing_of_families;
  if (missing.empty()) return Kind::runs;
  throw Error(fmt::format("this is no table of {}: the column{} {} {} missing",
                          looks_like_runs ? "training runs" : "speedup families", missing.size() == 1 ? "" : "s",
                          printable(joined(missing), 400), missing.size() == 1 ? "is" : "are"),
              where + ":1", "docs/data.md describes the columns");
}

template <class Item>
void append(std::vector<Item>& all, std::vector<Item>&& more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

class Joined {
 public:
  void add(sim::FamilyCorpus more, const std::string& where) {
    for (const auto& family : more.families) check_new("family", family.id, where);
    for (const auto& family : more.declined) check_new("family", family.id, where);
    append(all_.families.families, std::move(more.families));
    append(all_.families.declined, std::move(more.declined));
    all_.has_families = true;
  }
  void add(sim::RunCorpus more, const std::string& where) {
    for (const auto& run : more.runs) check_new("run", run.label.id, where);
    for (const auto& run : more.declined) check_new("run", run.label.id, where);
    append(all_.runs.runs, std::move(more.runs));
    append(all_.runs.declined, std::move(more.declined));
    all_.has_runs = true;
  }
  [[nodiscard]] MeasuredInput take() { return std::move(all_); }

 private:
  void check_new(const char* kind, const std::string& id, const std::string& where) {
    const auto [seen, is_new] = file_of_.try_emplace(id, where);
    if (is_new) return;
    throw Error(fmt::format("the {} {} is in {} already", kind, quoted(id), seen->second), where,
                fmt::format("give every file and every {} once", kind));
  }

  MeasuredInput all_;
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
  Joined all;
  std::string texts;
  for (const std::string& file : arguments.files) {
    const std::string text = read_file(file);
    const std::string where = file == "-" ? "standard input" : printable(file);
    if (kind_of(text, where) == Kind::families) {
      all.add(scenarios::read_families(text, where, catalogue), where);
    } else {
      all.add(scenarios::read_llm_runs(text, where, catalogue), where);
    }
    texts += text + '\0';
  }
  MeasuredInput measured = all.take();
  measured.digest = digest(texts);
  return measured;
}

}  // namespace foretrain::cli
