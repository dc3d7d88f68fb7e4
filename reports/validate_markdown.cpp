#include "reports/validate_markdown.h"

#include <vector>

#include <fmt/format.h>

#include "base/markdown.h"
#include "reports/validate_run_tables.h"
#include "reports/validate_tables.h"

namespace foretrain::reports {

namespace {

std::string section(const std::string& title, const Table& table) {
  return table.rows.empty() ? "" : fmt::format("\n## {}\n\n{}", title, table.markdown());
}

std::string families_markdown(const sim::Validation& validation) {
  std::string text = fmt::format("\n**{}** {}\n", validate_verdict(validation), validate_scope(validation));
  std::vector<sim::GroupScore> groups = validation.groups;
  groups.push_back(validation.overall);
  text += section("Accuracy by source", accuracy_table("source", groups));
  text += section("Accuracy by kind", accuracy_table("kind", validation.kinds));
  text += section("Baselines by source (median / mean error)", baseline_table("source", groups));
  text += section("Baselines by kind (median / mean error)", baseline_table("kind", validation.kinds));
  text += section("The worst points", worst_points_table(validation.points, 10));
  return text + section("Declined", declined_table(validation));
}

// Hundreds of rows: folded away, one table per source.
std::string every_run(const sim::RunValidation& validation) {
  if (validation.runs.empty()) return "";
  std::string text = "\n## Every predicted run\n";
  for (const sim::RunScore& group : validation.groups) {
    const Table table = all_runs_table(validation.runs, group.errors.name);
    if (table.rows.empty()) continue;
    text += fmt::format("\n<details><summary>{}: {} runs</summary>\n\n{}\n</details>\n",
                        markdown_text(group.errors.name), table.rows.size(), table.markdown());
  }
  return text;
}

std::string runs_markdown(const sim::RunValidation& validation) {
  std::string text = fmt::format("\n**{}** {}\n", runs_verdict(validation), runs_scope(validation));
  const std::string comparison = runs_comparison(validation);
  if (!comparison.empty()) text += fmt::format("\n{}\n", comparison);
  std::vector<sim::RunScore> groups = validation.groups;
  groups.push_back(validation.overall);
  text += section("Runs: accuracy by source", run_accuracy_table("source", groups));
  text += section("Runs: accuracy by class of GPU", run_accuracy_table("GPU", validation.gpu_classes));
  text += section("Runs: ranking of alternatives by source", ranking_table("source", groups));
  text += section("Runs: baselines by source (median / mean error)", run_baseline_table("source", groups));
  text += fmt::format("\n{}\n", run_baselines_legend());
  text += section("The worst runs", worst_runs_table(validation.runs, 10));
  text += section("Declined runs", declined_runs_table(validation));
  return text + every_run(validation);
}

}  // namespace

std::string validation_markdown(const sim::Validation& validation) {
  std::string text;
  if (has_families(validation) || !has_runs(validation)) text += families_markdown(validation);
  if (has_runs(validation)) text += runs_markdown(validation.runs);
  return text;
}

}  // namespace foretrain::reports
