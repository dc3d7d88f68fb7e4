#include "scenarios/corpus/family_row.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/cluster.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_text = 1000;  // patterns are matched against texts of this length at most
constexpr std::size_t most_counts = 1000;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A decimal number and nothing else, finite and above zero.
std::optional<double> positive_number(const std::string& word) {
  if (word.empty() || word.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value) || !(value > 0)) return std::nullopt;
  return value;
}

// Fields of one row by the names of their columns.
class Fields {
 public:
  Fields(const CsvTable& table, const CsvTable::Row& row) : table_(table), row_(row) {}

  [[nodiscard]] const std::string& text(std::string_view column) const {
    const std::string& field = row_.fields[table_.column(column)];
    if (field.size() > longest_text) {
      fail(column, fmt::format("a text of more than {} bytes", longest_text), "a few words are enough");
    }
    return field;
  }

  [[nodiscard]] std::vector<double> numbers(std::string_view column) const {
    std::vector<double> numbers;
    for (const std::string& word : words_of(row_.fields[table_.column(column)])) {
      const auto number = positive_number(word);
      if (!number) fail(column, quoted(word) + " is no number above 0", "numbers with spaces between them");
      if (numbers.size() == most_counts) {
        fail(column, fmt::format("more than {} numbers", most_counts), "split the curve into several");
      }
      numbers.push_back(*number);
    }
    if (numbers.empty()) fail(column, "no numbers", "numbers with spaces between them");
    return numbers;
  }

  [[noreturn]] void fail(std::string_view column, const std::string& what, const std::string& hint = "") const {
    throw Error(what, table_.place(row_, column), hint);
  }

 private:
  const CsvTable& table_;
  const CsvTable::Row& row_;
};

std::vector<std::int64_t> read_gpus(const Fields& fields) {
  std::vector<std::int64_t> gpus;
  for (const double number : fields.numbers("gpus")) {
    if (number != std::floor(number) || number > sim::most_gpus) {
      fields.fail("gpus", significant(number) + " is no number of GPUs",
                  fmt::format("whole numbers up to {}", sim::most_gpus));
    }
    const auto count = static_cast<std::int64_t>(number);
    if (!gpus.empty() && count <= gpus.back()) {
      fields.fail("gpus", fmt::format("{} stands behind {}", count, gpus.back()), "ascending, every number once");
    }
    gpus.push_back(count);
  }
  return gpus;
}

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

BatchRule read_rule(const Fields& fields) {
  const std::string& text = fields.text("scaling");
  if (begins_with(text, "weak")) return BatchRule::per_gpu;
  if (begins_with(text, "strong")) return BatchRule::global;
  if (begins_with(text, "batch not stated")) return BatchRule::not_stated;
  fields.fail("scaling", "the kind of scaling " + quoted(text) + " is not known",
              "weak (constant batch/GPU), strong (constant global batch) or batch not stated");
}

// "64/GPU" under weak scaling, "global 4096" under strong.
double read_batch(const Fields& fields, BatchRule rule) {
  const std::string& text = fields.text("batch");
  if (rule == BatchRule::not_stated) {
    if (text.empty()) return 0;
    fields.fail("batch", quoted(text) + " is stated, but the column scaling says that it is not",
                "leave it empty, or say in the column scaling how it grows");
  }
  constexpr std::string_view global = "global ", per_gpu = "/GPU";
  std::string number;
  if (rule == BatchRule::global && begins_with(text, global)) number = text.substr(global.size());
  if (rule == BatchRule::per_gpu && text.size() > per_gpu.size() &&
      std::string_view(text).substr(text.size() - per_gpu.size()) == per_gpu) {
    number = text.substr(0, text.size() - per_gpu.size());
  }
  const auto batch = positive_number(number);
  if (batch && *batch >= 1 && *batch <= 1e12 && *batch == std::floor(*batch)) return *batch;
  fields.fail("batch", quoted(text) + " is no batch",
              rule == BatchRule::global ? "a whole number: global 4096" : "a whole number: 64/GPU");
}

std::string without_ending(const std::string& file) {
  constexpr std::string_view ending = ".csv";
  const bool has_ending =
      file.size() > ending.size() && std::string_view(file).substr(file.size() - ending.size()) == ending;
  return has_ending ? file.substr(0, file.size() - ending.size()) : file;
}

FamilyRow read_row(const CsvTable& table, const CsvTable::Row& source) {
  const Fields fields(table, source);
  FamilyRow row;
  row.id = fields.text("family_id");
  if (row.id.empty()) fields.fail("family_id", "no identifier", "give every curve its own, such as F1");
  row.place = fmt::format("{}:{}", table.where(), source.line);
  row.group = without_ending(fields.text("file"));
  for (const std::string& column : text_columns()) row.texts[column] = fields.text(column);
  row.rule = read_rule(fields);
  row.batch = read_batch(fields, row.rule);
  row.gpus = read_gpus(fields);
  row.values = fields.numbers("values");
  if (row.values.size() != row.gpus.size()) {
    fields.fail("values", fmt::format("{} values for {} numbers of GPUs", row.values.size(), row.gpus.size()),
                "one value for each number in the column gpus");
  }
  return row;
}

}  // namespace

const std::vector<std::string>& text_columns() {
  static const std::vector<std::string> columns = {"source",     "where",        "gpu",     "intra_node",
                                                   "inter_node", "framework",    "model",   "precision",
                                                   "strategy",   "seq_or_image", "variant", "metric"};
  return columns;
}

std::vector<FamilyRow> read_family_rows(const CsvTable& table) {
  std::vector<FamilyRow> rows;
  std::set<std::string> ids;
  for (const CsvTable::Row& source : table.rows()) {
    rows.push_back(read_row(table, source));
    if (ids.insert(rows.back().id).second) continue;
    throw Error("the family " + quoted(rows.back().id) + " is there twice", table.place(source, "family_id"));
  }
  if (rows.empty()) throw Error("the table has no rows", table.where(), "one row per family under the header");
  return rows;
}

bool measures_seconds(const FamilyRow& row) { return row.texts.at("metric") == "step_time_s"; }

double measured_speedup(const FamilyRow& row, std::size_t from, std::size_t to) {
  if (!measures_seconds(row)) return row.values[to] / row.values[from];
  const double work =
      row.rule == BatchRule::global ? 1 : static_cast<double>(row.gpus[to]) / static_cast<double>(row.gpus[from]);
  return work * row.values[from] / row.values[to];
}

}  // namespace foretrain::scenarios
