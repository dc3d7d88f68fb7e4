#include "reports/sections.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "reports/fit.h"
#include "reports/humanise.h"
#include "reports/sentences.h"

namespace foretrain::reports {

namespace {

constexpr std::size_t bar_columns = 30;

std::string heading(const std::string& text, const Style& style) { return '\n' + style.bold(text) + '\n'; }

// Label, value, share of the whole and a bar per part; then the whole.
std::string bars(const std::vector<sim::NamedQuantity>& parts, const Quantity& whole, double full_bar,
                 const Style& style) {
  std::size_t label_width = display_width("total");
  std::size_t value_width = display_width(value_text(whole));
  for (const auto& [key, quantity] : parts) {
    label_width = std::max(label_width, display_width(key_words(key)));
    value_width = std::max(value_width, display_width(value_text(quantity)));
  }
  const auto line = [&](const std::string& label, const Quantity& quantity) {
    return fmt::format("  {}  {}", right_padded(label, label_width), left_padded(value_text(quantity), value_width));
  };
  std::string text;
  for (const auto& [key, quantity] : parts) {
    text += line(key_words(key), quantity);
    const double share = full_bar > 0 ? quantity.value / full_bar : 0.0;
    text += fmt::format("  {:>5}", format_percent(share));
    const std::string drawn = bar(share, bar_columns);
    text += drawn.empty() ? "\n" : "  " + style.accent(drawn) + '\n';
  }
  return text + line("total", whole);
}

}  // namespace

std::string breakdown_section(const std::string& title, const sim::Prediction& prediction, const Style& style) {
  if (prediction.breakdown.empty()) return "";
  std::vector<sim::NamedQuantity> parts = prediction.breakdown;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second.value > b.second.value; });
  return heading(title, style) +
         bars(parts, prediction.step_time, prediction.step_time.value, style) + '\n';
}

std::string memory_section(const sim::Prediction& prediction, const Style& style) {
  if (prediction.memory.parts.empty()) return "";
  const sim::MemoryAnswer& memory = prediction.memory;
  const std::string whose =
      memory.stages.size() > 1 ? fmt::format(" of stage {}, the fullest of {}", memory.fullest, memory.stages.size()) : "";
  std::string text = heading("Memory of one GPU" + whose + ", of " + value_text(memory.capacity), style) +
                     bars(memory.parts, memory.total, memory.capacity.value, style);
  const double share = memory.capacity.value > 0 ? memory.total.value / memory.capacity.value : 0.0;
  text += fmt::format("  {:>5}", format_percent(share));
  return text + (memory.fits ? "\n" : "  " + style.warn("does not fit") + '\n');
}

std::string money_section(const sim::Scenario& scenario, const sim::Prediction& prediction, const Style& style) {
  std::string text = heading("Time and money", style);
  const auto line = [&](const std::string& label, const Quantity& quantity) {
    std::string value = interval_text(quantity);
    if (!quantity.known && !quantity.provenance.empty()) value += " (" + printable(quantity.provenance) + ")";
    text += wrapped(value, fmt::format("  {}  ", right_padded(label, 27)));
  };
  const std::string basis = cost_basis(scenario);
  line("cost per hour", prediction.cost_per_hour);
  line("cost " + basis, prediction.cost);
  line("energy " + basis, prediction.energy);
  if (scenario.training.dataset_samples > 0) line("one epoch", prediction.epoch_time);
  if (scenario.training.epochs > 0) {
    line(fmt::format("{:g} epochs", scenario.training.epochs), prediction.run_time);
  }
  return text;
}

std::string parameter_section(const sim::Prediction& prediction, std::size_t top, bool sources, const Style& style) {
  if (prediction.parameters.empty()) return "";
  const std::size_t shown = top == 0 ? prediction.parameters.size() : std::min(top, prediction.parameters.size());
  Table table;
  table.header = {"number", "value", "spread", "known by", "of step", "moves step"};
  using Align = Table::Align;
  table.align = {Align::left, Align::right, Align::right, Align::left, Align::right, Align::right};
  const double step = prediction.step_time.value;
  for (std::size_t i = 0; i < shown; ++i) {
    const sim::ParameterShare& share = prediction.parameters[i];
    const Parameter& parameter = share.parameter;
    const double part = step > 0 ? share.critical_seconds / step : 0.0;
    table.rows.push_back({parameter.name, number_text(parameter.value, parameter.unit),
                          "±" + format_percent(parameter.relative_spread), to_string(parameter.provenance),
                          format_percent(part), "±" + format_percent(part * parameter.relative_spread, 1)});
  }
  fit_column(table, 0, 2);
  std::string text = heading("What the step rests on, largest effect first (spread: one standard deviation)", style);
  const std::string drawn = table.text(2);
  std::size_t at = drawn.find('\n') + 1;
  text += drawn.substr(0, at);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t end = drawn.find('\n', at) + 1;
    text += drawn.substr(at, end - at);
    if (sources) text += wrapped(printable(prediction.parameters[i].parameter.source, 600), "      ");
    at = end;
  }
  const std::size_t left = prediction.parameters.size() - shown;
  if (left > 0) text += style.dim(fmt::format("  and {} more: foretrain explain", left)) + '\n';
  return text;
}

std::string warning_section(const std::vector<std::string>& warnings, const Style& style) {
  if (warnings.empty()) return "";
  std::string text = heading(warnings.size() == 1 ? "Warning" : "Warnings", style);
  for (const std::string& warning : warnings) text += style.warn(wrapped(printable(warning, 1000), "  ! "));
  return text;
}

}  // namespace foretrain::reports
