#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "reports/csv.h"
#include "reports/validate_run_tables.h"

namespace foretrain::reports {

namespace {

using Cells = std::map<std::string, std::string>;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

const std::vector<std::string> family_columns = {
    "id",   "group",  "kind",                "anchor_gpus",  "gpus",               "measured", "predicted", "low",
    "high", "linear", "constant_efficiency", "largest_loss", "largest_loss_share", "reason"};
const std::vector<std::string> run_columns = {"id",
                                              "group",
                                              "gpu_class",
                                              "tier",
                                              "gpus",
                                              "plan",
                                              "measured",
                                              "predicted",
                                              "low",
                                              "high",
                                              "utilisation_of_others",
                                              "utilisation_of_group",
                                              "utilisation_and_bubble_of_group",
                                              "stack",
                                              "chip",
                                              "precision",
                                              "network",
                                              "sharding",
                                              "schedule",
                                              "recompute",
                                              "nodes",
                                              "tensor",
                                              "pipeline",
                                              "parameters",
                                              "tokens_per_pass",
                                              "flops_per_kernel",
                                              "log_spread",
                                              "largest_part",
                                              "largest_part_share",
                                              "parts_seconds",
                                              "reason"};

// Of both kinds of rows: what they share, then what either has.
std::vector<std::string> all_columns() {
  std::vector<std::string> columns = family_columns;
  columns.pop_back();
  for (const std::string& column : run_columns) {
    if (std::find(family_columns.begin(), family_columns.end(), column) == family_columns.end()) {
      columns.push_back(column);
    }
  }
  columns.emplace_back("reason");
  return columns;
}

Cells cells_of(const sim::ValidatedPoint& point) {
  Cells cells = {{"id", point.id},
                 {"group", point.group},
                 {"kind", point.kind},
                 {"anchor_gpus", fmt::format("{}", point.anchor_gpus)},
                 {"gpus", fmt::format("{}", point.gpus)},
                 {"measured", number(point.measured)},
                 {"predicted", number(point.predicted)},
                 {"low", number(point.low)},
                 {"high", number(point.high)},
                 {"largest_loss", point.largest_loss},
                 {"largest_loss_share", number(point.largest_loss_share)}};
  for (const auto& [name, value] : point.baselines) cells[name] = number(value);
  return cells;
}

Cells cells_of(const sim::RunLabel& label) {
  return {{"id", label.id}, {"group", label.group}, {"gpu_class", label.gpu_class}, {"tier", label.tier}};
}

// "backward 1.2; forward 0.6": seconds of the predicted step by part.
std::string parts_text(const std::map<std::string, double>& parts) {
  std::vector<std::string> texts;
  for (const auto& [part, seconds] : parts) texts.push_back(fmt::format("{} {:.6g}", part, seconds));
  return joined(texts, "; ");
}

void add_traits(Cells& cells, const calibrate::RunTraits& traits) {
  cells["stack"] = traits.stack;
  cells["chip"] = traits.chip;
  cells["precision"] = traits.precision;
  cells["network"] = traits.network;
  cells["sharding"] = traits.sharding;
  cells["schedule"] = traits.schedule;
  cells["recompute"] = traits.recompute;
  cells["nodes"] = fmt::format("{}", traits.nodes);
  cells["tensor"] = fmt::format("{}", traits.tensor);
  cells["pipeline"] = fmt::format("{}", traits.pipeline);
  cells["parameters"] = number(traits.parameters);
  cells["tokens_per_pass"] = number(traits.tokens_per_pass);
  cells["flops_per_kernel"] = number(traits.flops_per_kernel);
}

Cells cells_of(const sim::ValidatedRun& run) {
  Cells cells = cells_of(run.label);
  cells["gpus"] = fmt::format("{}", run.gpus);
  cells["plan"] = run.plan;
  cells["measured"] = number(run.measured);
  cells["predicted"] = number(run.predicted);
  cells["low"] = number(run.low);
  cells["high"] = number(run.high);
  add_traits(cells, run.traits);
  cells["log_spread"] = number(run.log_spread);
  cells["parts_seconds"] = parts_text(run.parts);
  cells["largest_part"] = run.largest_part;
  cells["largest_part_share"] = number(run.largest_part_share);
  for (const auto& [name, value] : run.baselines) cells[name] = number(value);
  return cells;
}

}  // namespace

std::string csv(const ValidateResult& result) {
  const sim::Validation& validation = result.validation;
  Table table;
  table.header = !has_runs(validation) ? family_columns : has_families(validation) ? all_columns() : run_columns;
  const auto add = [&](Cells cells) {
    std::vector<std::string> row;
    for (const std::string& column : table.header) row.push_back(cells[column]);
    table.rows.push_back(row);
  };
  for (const auto& point : validation.points) add(cells_of(point));
  for (const auto& family : validation.declined) {
    add({{"id", family.id}, {"group", family.group}, {"kind", family.kind}, {"reason", family.reason}});
  }
  for (const auto& run : validation.runs.runs) add(cells_of(run));
  for (const auto& run : validation.runs.declined) {
    Cells cells = cells_of(run.label);
    cells["reason"] = run.reason;
    add(cells);
  }
  return table.csv();
}

}  // namespace foretrain::reports
