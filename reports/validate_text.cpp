#include <cstddef>
#include <vector>

#include "base/text.h"
#include "reports/fit.h"
#include "reports/text.h"
#include "reports/validate_run_tables.h"
#include "reports/validate_tables.h"

namespace foretrain::reports {

namespace {

std::string section(const std::string& title, Table table, std::size_t fitted_column, const Style& style) {
  if (table.rows.empty()) return "";
  constexpr int indent = 2;
  fit_column(table, fitted_column, indent);
  return '\n' + style.bold(title) + '\n' + table.text(indent);
}

// Reasons are sentences: they are wrapped, not cut.
std::string declined_section(const Table& table, const Style& style) {
  if (table.rows.empty()) return "";
  std::string text = '\n' + style.bold("Declined") + '\n';
  for (const auto& row : table.rows) {
    text +=
        wrapped(printable(row[1], 1000) + " (such as " + printable(row[2]) + ")", "  " + left_padded(row[0], 4) + "  ");
  }
  return text;
}

std::string families_text(const sim::Validation& validation, const Style& style) {
  std::string text = style.bold(wrapped(validate_verdict(validation)));
  const std::string scope = validate_scope(validation);
  if (!scope.empty()) text += wrapped(scope);

  std::vector<sim::GroupScore> groups = validation.groups;
  groups.push_back(validation.overall);
  if (validation.overall.points > 0) {
    text += section("Accuracy by source", accuracy_table("source", groups), 0, style);
    text += section("Accuracy by kind", accuracy_table("kind", validation.kinds), 0, style);
    text += style.dim(
                "  Errors of the speedup over the smallest count; covered, width: of the 90 % intervals;\n"
                "  skill: 1 − mean error / that of the better baseline.") +
            '\n';
    std::vector<sim::GroupScore> all = validation.kinds;
    all.insert(all.end(), groups.begin(), groups.end());
    text += section("Beside baselines (median / mean error)", baseline_table("", all), 0, style);
    text += style.dim("  linear: speedup = GPUs; constant efficiency: one per doubling, fitted to all other curves.") +
            '\n';
    text += section("The worst points", worst_points_table(validation.points, 10), 1, style);
  }
  return text + declined_section(declined_table(validation), style);
}

std::string runs_text(const sim::RunValidation& validation, const Style& style) {
  std::string text = style.bold(wrapped(runs_verdict(validation)));
  const std::string scope = runs_scope(validation);
  if (!scope.empty()) text += wrapped(scope);
  const std::string comparison = runs_comparison(validation);
  if (!comparison.empty()) text += wrapped(comparison);

  std::vector<sim::RunScore> groups = validation.groups;
  groups.push_back(validation.overall);
  if (validation.overall.errors.points > 0) {
    text += section("Accuracy by source", run_accuracy_table("source", groups), 0, style);
    text += section("Accuracy by class of GPU", run_accuracy_table("GPU", validation.gpu_classes), 0, style);
    text += style.dim(
                "  Errors of the step time; covered, width: of the 90 % intervals;\n"
                "  skill: 1 − mean error / that of the best baseline.") +
            '\n';
    text += section("Ranking of alternatives", ranking_table("source", groups), 0, style);
    text += style.dim(
                "  Sets of runs that differ in nothing but how they share the work: τ-b of measured and predicted\n"
                "  times, and how much longer than the best what is predicted fastest takes (means over sets).") +
            '\n';
    text += section("Beside baselines (median / mean error)", run_baseline_table("", groups), 0, style);
    text += style.dim(wrapped(run_baselines_legend(), "  "));
    text += section("The worst runs", worst_runs_table(validation.runs, 10), 1, style);
  }
  return text + declined_section(declined_runs_table(validation), style);
}

}  // namespace

std::string validate_text(const ValidateResult& result, const Style& style) {
  const sim::Validation& validation = result.validation;
  if (!has_runs(validation)) return families_text(validation, style);
  std::string text = runs_text(validation.runs, style);
  if (!has_families(validation)) return text;
  return style.bold("Speedup families") + "\n\n" + families_text(validation, style) + "\n\n" +
         style.bold("Runs of language models") + "\n\n" + text;
}

}  // namespace foretrain::reports
