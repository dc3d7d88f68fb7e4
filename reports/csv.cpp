#include "reports/csv.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/table.h"
#include "reports/quantities.h"

namespace foretrain::reports {

namespace {

using Row = std::vector<std::string>;

// The shortest text that reads back as the same number.
std::string number(double value) { return fmt::format("{}", value); }

std::string value_cell(const Quantity& quantity) { return quantity.known ? number(quantity.value) : ""; }

void append_interval(Row& row, const Quantity& quantity) {
  row.push_back(value_cell(quantity));
  row.push_back(quantity.known ? number(quantity.low) : "");
  row.push_back(quantity.known ? number(quantity.high) : "");
}

Row option_row(const sim::AlternativeAnswer& option, bool recommended, bool is_base) {
  const sim::Prediction& prediction = option.prediction;
  Row row = {option.name, recommended ? "1" : "0", fmt::format("{}", option.scenario.cluster.gpus),
             fmt::format("{}", prediction.nodes), fmt::format("{}", prediction.global_batch)};
  append_interval(row, prediction.step_time);
  append_interval(row, prediction.throughput);
  if (is_base) {
    row.insert(row.end(), {"1", "1", "1", "", ""});
  } else {
    append_interval(row, option.gain_interval);
    row.push_back(number(option.odds_faster_than_base));
    row.push_back(value_cell(option.independent_runs));
  }
  append_interval(row, prediction.speedup);
  append_interval(row, prediction.efficiency);
  row.push_back(value_cell(prediction.memory.total));
  row.push_back(value_cell(prediction.memory.capacity));
  row.push_back(prediction.memory.fits ? "1" : "0");
  row.push_back(value_cell(prediction.cost_per_hour));
  append_interval(row, prediction.cost);
  row.push_back(prediction.cost.unit);
  append_interval(row, prediction.energy);
  row.push_back(prediction.energy.unit);
  append_interval(row, prediction.epoch_time);
  row.push_back(prediction.binding);
  return row;
}

}  // namespace

std::string csv(const PredictResult& result) {
  Table table;
  table.header = {"quantity", "value", "low", "high", "unit", "provenance"};
  for (const auto& [key, quantity] : flat_quantities(result.prediction)) {
    Row row = {key};
    append_interval(row, quantity);
    row.push_back(quantity.unit);
    row.push_back(quantity.provenance);
    table.rows.push_back(row);
  }
  return table.csv();
}

std::string terms_csv(const PredictResult& result) {
  Table table;
  table.header = {"term", "group", "seconds", "formula", "provenance", "source"};
  for (const sim::Term& term : result.prediction.terms) {
    table.rows.push_back({term.name, term.group, number(term.seconds), term.formula, term.provenance, term.source});
  }
  return table.csv();
}

std::string csv(const DecideResult& result) {
  const sim::Decision& decision = result.decision;
  Table table;
  table.header = {"option", "recommended", "gpus", "nodes", "global_batch"};
  const auto interval_columns = [&](const std::string& name) {
    for (const char* end : {"", "_low", "_high"}) table.header.push_back(name + end);
  };
  interval_columns("step_seconds");
  interval_columns("samples_per_s");
  interval_columns("gain");
  table.header.insert(table.header.end(), {"odds_faster_than_base", "independent_runs_samples_per_s"});
  interval_columns("speedup");
  interval_columns("efficiency");
  table.header.insert(table.header.end(), {"memory_bytes", "memory_capacity_bytes", "fits", "usd_per_hour"});
  interval_columns("cost");
  table.header.push_back("cost_unit");
  interval_columns("energy");
  table.header.push_back("energy_unit");
  interval_columns("epoch_seconds");
  table.header.push_back("bound_by");

  table.rows.push_back(option_row(decision.base, decision.recommended < 0, true));
  for (std::size_t i = 0; i < decision.alternatives.size(); ++i) {
    table.rows.push_back(option_row(decision.alternatives[i], decision.recommended == static_cast<int>(i), false));
  }
  return table.csv();
}

}  // namespace foretrain::reports
