#include "scenarios/corpus/llm_row.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/cluster.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_text = 1000;  // patterns are matched against texts of this length at most
constexpr std::int64_t largest_number = 1'000'000'000;

const std::vector<std::string>& whole_number_columns() {
  static const std::vector<std::string> columns = {
      "gpus",  "gpus_per_node", "hidden",      "heads", "kv_heads", "ffn", "seq_len", "vocab",
      "global_batch", "micro_batch", "tp", "pp", "vpp", "dp", "cp", "ep"};
  return columns;
}

[[noreturn]] void refuse(const CsvTable& table, const CsvTable::Row& row, const std::string& column,
                         const std::string& what, const std::string& hint) {
  throw Error(what, table.place(row, column), hint);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stopped != text.data() + text.size() || value < 1 || value > largest_number) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> positive_number(const std::string& text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value) || !(value > 0)) return std::nullopt;
  return value;
}

// "48", or "24+24" of encoder and decoder.
std::vector<std::int64_t> read_layers(const CsvTable& table, const CsvTable::Row& row, const std::string& text) {
  std::vector<std::int64_t> layers;
  if (text.empty()) return layers;
  std::string_view rest = text;
  while (true) {
    const std::size_t plus = rest.find('+');
    const auto count = whole_number(rest.substr(0, plus));
    if (!count || layers.size() == 2) {
      refuse(table, row, "layers", quoted(text) + " is no number of layers", "48, or 24+24 of encoder and decoder");
    }
    layers.push_back(*count);
    if (plus == std::string_view::npos) return layers;
    rest.remove_prefix(plus + 1);
  }
}

LlmRow read_row(const CsvTable& table, const CsvTable::Row& source) {
  LlmRow row;
  row.place = fmt::format("{}:{}", table.where(), source.line);
  for (const std::string& column : llm_columns()) {
    const std::string& text = source.fields[table.column(column)];
    if (text.size() > longest_text) {
      refuse(table, source, column, fmt::format("a text of more than {} bytes", longest_text),
             "a few words are enough");
    }
    row.texts[column] = text;
  }
  row.id = row.texts.at("id");
  if (row.id.empty()) refuse(table, source, "id", "no identifier", "give every run its own, such as r1");
  for (const std::string& column : whole_number_columns()) {
    const std::string& text = row.texts.at(column);
    if (text.empty()) continue;
    const auto number = whole_number(text);
    if (!number) {
      refuse(table, source, column, quoted(text) + " is no whole number above 0",
             "leave it empty where it is not known");
    }
    row.numbers[column] = *number;
  }
  if (row.number("gpus", 1) > sim::most_gpus) {
    refuse(table, source, "gpus", "too many GPUs", fmt::format("whole numbers up to {}", sim::most_gpus));
  }
  row.layers = read_layers(table, source, row.texts.at("layers"));
  if (const std::string& step = row.texts.at("step_time_s"); !step.empty()) {
    row.step_seconds = positive_number(step);
    if (!row.step_seconds) {
      refuse(table, source, "step_time_s", quoted(step) + " is no number of seconds", "seconds per optimizer step");
    }
  }
  row.texts.erase("step_time_s");  // no rule may match what was measured
  return row;
}

}  // namespace

std::int64_t LlmRow::number(const std::string& column, std::int64_t otherwise) const {
  const auto found = numbers.find(column);
  return found == numbers.end() ? otherwise : found->second;
}

const std::vector<std::string>& llm_columns() {
  static const std::vector<std::string> columns = {
      "id",           "file",        "source",     "tier",     "gpu",        "gpu_class", "gpus",
      "gpus_per_node", "intra_node", "inter_node", "model",    "layers",     "hidden",    "heads",
      "kv_heads",     "ffn",         "seq_len",    "vocab",    "global_batch", "micro_batch", "tp",
      "pp",           "vpp",         "dp",         "cp",       "ep",         "zero_stage", "sharding",
      "sequence_parallel", "recompute", "precision", "schedule", "step_time_s", "notes"};
  return columns;
}

std::vector<LlmRow> read_llm_rows(const CsvTable& table) {
  std::vector<LlmRow> rows;
  std::set<std::string> ids;
  for (const CsvTable::Row& source : table.rows()) {
    rows.push_back(read_row(table, source));
    if (ids.insert(rows.back().id).second) continue;
    throw Error("the run " + quoted(rows.back().id) + " is there twice", table.place(source, "id"),
                "give every run its own id");
  }
  if (rows.empty()) throw Error("the table has no rows", table.where(), "one row per run under the header");
  return rows;
}

}  // namespace foretrain::scenarios
