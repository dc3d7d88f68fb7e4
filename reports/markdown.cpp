#include "reports/markdown.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/markdown.h"
#include "base/table.h"
#include "base/text.h"
#include "reports/humanise.h"
#include "reports/quantities.h"
#include "reports/sentences.h"
#include "reports/validate_markdown.h"
#include "reports/warnings.h"

namespace foretrain::reports {

namespace {

using Align = Table::Align;

std::string list(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("\n## {}\n\n", title);
  for (const std::string& line : lines) text += fmt::format("- {}\n", markdown_text(line));
  return text;
}

std::string quantity_words(const std::string& key, const Quantity& quantity) {
  if (key == "speedup") return factor_text(quantity);
  if (key == "efficiency") return share_text(quantity);
  return interval_text(quantity);
}

std::string quantity_table(const sim::Prediction& prediction) {
  Table table;
  table.header = {"quantity", "value", "provenance"};
  for (const auto& [key, quantity] : flat_quantities(prediction)) {
    table.rows.push_back({key_words(key), quantity_words(key, quantity), quantity.provenance});
  }
  return table.markdown();
}

std::string parameter_table(const sim::Prediction& prediction) {
  if (prediction.parameters.empty()) return "";
  Table table;
  table.header = {"number", "value", "spread", "known by", "critical time", "source"};
  table.align = {Align::left, Align::right, Align::right, Align::left, Align::right, Align::left};
  for (const sim::ParameterShare& share : prediction.parameters) {
    const Parameter& parameter = share.parameter;
    table.rows.push_back({parameter.name, number_text(parameter.value, parameter.unit),
                          "±" + format_percent(parameter.relative_spread), to_string(parameter.provenance),
                          number_text(share.critical_seconds, "s"), parameter.source});
  }
  return "\n## What it rests on\n\n" + table.markdown();
}

std::string term_table(const sim::Prediction& prediction) {
  if (prediction.terms.empty()) return "";
  Table table;
  table.header = {"term", "group", "time", "formula", "provenance", "source"};
  table.align = {Align::left, Align::left, Align::right};
  for (const sim::Term& term : prediction.terms) {
    table.rows.push_back({term.name, term.group, number_text(term.seconds, "s"), term.formula, term.provenance, term.source});
  }
  return "\n## Terms of one step\n\n" + table.markdown();
}

std::vector<std::string> option_row(const sim::AlternativeAnswer& option, const std::string& gain,
                                    const std::string& odds, bool recommended) {
  const sim::Prediction& prediction = option.prediction;
  const bool several = option.scenario.cluster.gpus > 1;
  return {option.name + (recommended ? " (recommended)" : ""),
          interval_text(prediction.step_time),
          interval_text(prediction.throughput),
          gain,
          odds,
          several ? value_text(option.independent_runs) : "",
          prediction.memory.fits ? "yes" : "no",
          value_text(prediction.cost_per_hour),
          interval_text(prediction.cost),
          value_text(prediction.epoch_time),
          prediction.binding};
}

std::string option_table(const sim::Decision& decision) {
  Table table;
  table.header = {"option", "step", "throughput", "gain", "odds of being faster", "as single runs", "fits",
                  "cost per hour", "cost " + cost_basis(decision.base.scenario), "epoch", "bound by"};
  table.rows.push_back(option_row(decision.base, "1×", "", decision.recommended < 0));
  for (std::size_t i = 0; i < decision.alternatives.size(); ++i) {
    const sim::AlternativeAnswer& option = decision.alternatives[i];
    table.rows.push_back(option_row(option, factor_text(option.gain_interval), odds_text(option.odds_faster_than_base),
                                    decision.recommended == static_cast<int>(i)));
  }
  return table.markdown();
}

std::vector<std::string> warnings_with_names(const sim::Decision& decision) {
  std::vector<std::string> lines;
  for (const SharedWarning& warning : shared_warnings(decision)) {
    std::vector<std::string> names;
    for (const std::size_t option : warning.options) {
      names.push_back(option == 0 ? decision.base.name : decision.alternatives[option - 1].name);
    }
    const bool every = names.size() == decision.alternatives.size() + 1;
    lines.push_back((every ? "every option" : joined(names)) + ": " + warning.text);
  }
  return lines;
}

std::string footer(const Head& head) {
  return fmt::format("\n---\nforetrain {} {}, input {}\n", head.version, head.command, head.input_digest);
}

}  // namespace

std::string markdown(const PredictResult& result) {
  const sim::Prediction& prediction = result.prediction;
  std::string text = fmt::format("# {}\n\n", markdown_text(result.workload.model));
  text += fmt::format("**{}** {}\n\n", markdown_text(headline(result.scenario, prediction)), markdown_text(bound_and_fit(prediction)));
  text += fmt::format("{}; {}.\n\n", markdown_text(cluster_words(result.scenario, prediction)),
                      markdown_text(training_words(result.scenario, prediction)));
  text += fmt::format("{}\n\n", markdown_text(track_record_words(prediction)));
  text += fmt::format("Cost and energy are {}; intervals are 90 %.\n\n", cost_basis(result.scenario));
  text += quantity_table(prediction) + list("Warnings", prediction.warnings);
  return text + parameter_table(prediction) + term_table(prediction) + footer(result.head);
}

std::string markdown(const DecideResult& result) {
  const sim::Decision& decision = result.decision;
  std::string text = fmt::format("# {}\n\n", markdown_text(result.workload.model));
  text += fmt::format("**{}**\n", markdown_text(decision.verdict));
  text += list("Why", decision.reasons) + list("Change first", decision.change_first);
  text += "\n## Options\n\n" + option_table(decision) + list("Warnings", warnings_with_names(decision));
  return text + footer(result.head);
}

std::string markdown(const ValidateResult& result) {
  return "# Validation\n" + validation_markdown(result.validation) + footer(result.head);
}

}  // namespace foretrain::reports
