// FamilyRow: one row of speedup_families.csv, its numbers checked, its free text as published.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/corpus/csv_table.h"

namespace foretrain::scenarios {

// Columns of free text by name ("gpu", "framework" …), and what the mapping has found out so far ("device"): what
// the mapping tables match.
using Texts = std::map<std::string, std::string>;

enum class BatchRule { per_gpu, global, not_stated };

struct FamilyRow {
  std::string id, place;  // "F0006"; "families.csv:2"
  std::string group;      // `file` without its ending
  Texts texts;
  BatchRule rule = BatchRule::not_stated;
  double batch = 0;                // of one GPU or of all, by `rule`, in the units published; 0 = not stated
  std::vector<std::int64_t> gpus;  // ascending, all different, at least one
  std::vector<double> values;      // the metric at each
};

// The columns of free text.
[[nodiscard]] const std::vector<std::string>& text_columns();

// Throws Error ("file:line: column") for a missing column and for values that no such table can have.
[[nodiscard]] std::vector<FamilyRow> read_family_rows(const CsvTable& table);

// How many times faster than at `from` the row's family trains at `to` (positions in `gpus`): throughput over
// throughput. A metric of seconds per step counts what a step trains: more on more GPUs under a batch per GPU.
[[nodiscard]] double measured_speedup(const FamilyRow& row, std::size_t from, std::size_t to);
// Whether the metric is seconds per step instead of something per second.
[[nodiscard]] bool measures_seconds(const FamilyRow& row);

}  // namespace foretrain::scenarios
