// LlmRow: one row of a table of training runs (llm_runs.csv), its numbers checked, its free text as published.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/family_row.h"

namespace foretrain::scenarios {

struct LlmRow {
  std::string id, place;  // "kort-0001"; "runs.csv:2"
  Texts texts;            // every column of llm_columns() as published
  std::map<std::string, std::int64_t> numbers;  // of whole-number columns, those that are stated
  std::vector<std::int64_t> layers;  // of the decoder, or of encoder and decoder ("24+24"); empty = not stated
  std::optional<double> step_seconds;           // measured

  [[nodiscard]] bool states(const std::string& column) const { return numbers.count(column) > 0; }
  // The number of `column`, or `otherwise` where it is not stated.
  [[nodiscard]] std::int64_t number(const std::string& column, std::int64_t otherwise) const;
};

// The columns that are read, measured ones among them; the mapping tables may match all but those.
[[nodiscard]] const std::vector<std::string>& llm_columns();

// Throws Error ("file:line: column") for a missing column and for values that no such table can have.
[[nodiscard]] std::vector<LlmRow> read_llm_rows(const CsvTable& table);

}  // namespace foretrain::scenarios
