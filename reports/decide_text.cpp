#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "reports/fit.h"
#include "reports/humanise.h"
#include "reports/sections.h"
#include "reports/sentences.h"
#include "reports/text.h"
#include "reports/warnings.h"

namespace foretrain::reports {

namespace {

using Row = std::vector<std::string>;
using Align = Table::Align;

std::string list_section(const std::string& title, const std::vector<std::string>& lines, const Style& style) {
  if (lines.empty()) return "";
  std::string text = '\n' + style.bold(title) + '\n';
  for (const std::string& line : lines) text += wrapped(printable(line, 1000), "  - ");
  return text;
}

std::string memory_cell(const sim::MemoryAnswer& memory) {
  if (!memory.fits) return "no";
  return memory.capacity.value > 0 ? format_percent(memory.total.value / memory.capacity.value) : "yes";
}

Row speed_row(const std::string& number, const sim::AlternativeAnswer& option, bool is_base) {
  return {number, option.name + (is_base ? " (today)" : ""), interval_text(option.prediction.step_time),
          is_base ? "1×" : factor_text(option.gain_interval),
          is_base ? "" : odds_text(option.odds_faster_than_base), memory_cell(option.prediction.memory)};
}

// "computation (98 % of the critical path)" -> "computation".
std::string without_details(const std::string& binding) { return binding.substr(0, binding.find(" (")); }

Row money_row(const std::string& number, const sim::AlternativeAnswer& option) {
  const sim::Prediction& prediction = option.prediction;
  const bool several = option.scenario.cluster.gpus > 1;
  return {number,
          value_text(prediction.throughput),
          several ? value_text(option.independent_runs) : "",
          prediction.efficiency.known ? format_percent(prediction.efficiency.value) : "unknown",
          value_text(prediction.cost_per_hour),
          value_text(prediction.cost),
          value_text(prediction.epoch_time),
          without_details(prediction.binding)};
}

// One table line per option, the recommended one marked and bold, the name as wide as the page leaves room.
std::string speed_table(const sim::Decision& decision, const Style& style) {
  Table table;
  table.header = {"", "option", "step", "gain", "faster", "memory"};
  table.align = {Align::right, Align::left, Align::left, Align::left, Align::right, Align::right};
  table.rows.push_back(speed_row("0", decision.base, true));
  for (std::size_t i = 0; i < decision.alternatives.size(); ++i) {
    table.rows.push_back(speed_row(fmt::format("{}", i + 1), decision.alternatives[i], false));
  }
  fit_column(table, 1, 2);

  const std::string drawn = table.text(2);
  std::string text;
  std::size_t at = 0;
  for (int line = -1; at < drawn.size(); ++line) {
    const std::size_t end = drawn.find('\n', at);
    std::string one = drawn.substr(at, end - at);
    const bool recommended = line >= 0 && line == decision.recommended + 1;
    if (recommended) one.replace(0, 1, "→");
    text += (recommended ? style.bold(one) : one) + '\n';
    at = end + 1;
  }
  return text;
}

std::string money_table(const sim::Decision& decision) {
  Table table;
  const std::string basis = decision.base.scenario.training.dataset_samples > 0 ? "per epoch" : "per M samples";
  table.header = {"", "throughput", "as single runs", "efficiency", "per hour", basis, "epoch", "bound by"};
  table.align = {Align::right, Align::right, Align::right, Align::right,
                 Align::right, Align::right, Align::right, Align::left};
  table.rows.push_back(money_row("0", decision.base));
  for (std::size_t i = 0; i < decision.alternatives.size(); ++i) {
    table.rows.push_back(money_row(fmt::format("{}", i + 1), decision.alternatives[i]));
  }
  fit_column(table, 7, 2);
  return table.text(2);
}

std::string warnings_with_numbers(const sim::Decision& decision, const Style& style) {
  std::vector<std::string> lines;
  for (const SharedWarning& warning : shared_warnings(decision)) {
    lines.push_back(number_ranges(warning.options) + ": " + warning.text);
  }
  return warning_section(lines, style);
}

// Whose track record is quoted: the recommendation's or else today's, and of one GPU that of the first other option.
const sim::AlternativeAnswer& quoted_option(const sim::Decision& decision) {
  if (decision.recommended >= 0) return decision.alternatives[static_cast<std::size_t>(decision.recommended)];
  const auto has_one = [](const sim::AlternativeAnswer& option) {
    return option.prediction.track_record || option.prediction.run_record;
  };
  if (has_one(decision.base)) return decision.base;
  for (const sim::AlternativeAnswer& option : decision.alternatives) {
    if (option.prediction.memory.fits && has_one(option)) return option;
  }
  return decision.base;
}

}  // namespace

std::string decide_text(const DecideResult& result, const Style& style) {
  const sim::Decision& decision = result.decision;
  std::string text = style.bold(wrapped(printable(decision.verdict, 1000)));
  text += list_section("Why", decision.reasons, style);
  text += list_section("Change first", decision.change_first, style);

  const sim::Scenario& base = decision.base.scenario;
  text += '\n' + style.bold("Options") + '\n';
  text += wrapped(fmt::format("{}: {}.", printable(result.workload.model),
                              training_words(base, decision.base.prediction)), "  ");
  text += '\n' + speed_table(decision, style) + '\n' + money_table(decision);
  text += style.dim("  Intervals are 90 %. gain: throughput over today's; faster: odds of being faster than today;\n"
                    "  memory: share of a GPU's memory; as single runs: as many independent one-GPU runs, together.") +
          '\n';
  const std::string record = track_record_words(quoted_option(decision).prediction);
  if (!record.empty()) text += wrapped(record, "  ");
  text += warnings_with_numbers(decision, style);
  text += breakdown_section("Where today's step goes", decision.base.prediction, style);
  return text;
}

}  // namespace foretrain::reports
