#include "reports/validate_run_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/sentences.h"

namespace foretrain::reports {

namespace {

using Align = Table::Align;

// Without runs there is no error: a dash.
std::string percent(double fraction, int decimals = 1) {
  return std::isnan(fraction) ? "–" : format_percent(fraction, decimals);
}

std::string decimal(double value) { return std::isnan(value) ? "–" : fmt::format("{:.2f}", value); }

double error_of(const sim::ValidatedRun& run) { return run.predicted / run.measured - 1; }

std::string part_text(const sim::ValidatedRun& run) {
  if (run.largest_part.empty()) return "none";
  return fmt::format("{} {}", key_words(run.largest_part), format_percent(run.largest_part_share));
}

// The order in which baselines are shown, and how: what has seen most answers last.
const std::vector<std::pair<std::string, std::string>>& baseline_columns() {
  static const std::vector<std::pair<std::string, std::string>> columns = {
      {"utilisation_of_others", "of others"},
      {"utilisation_of_group", "of group"},
      {"utilisation_and_bubble_of_group", "and bubble"}};
  return columns;
}

void align_numbers(Table& table, std::size_t texts) {
  table.align.assign(texts, Align::left);
  table.align.resize(table.header.size(), Align::right);
}

}  // namespace

bool has_runs(const sim::Validation& validation) {
  return !validation.runs.runs.empty() || !validation.runs.declined.empty();
}

bool has_families(const sim::Validation& validation) {
  return !validation.points.empty() || !validation.declined.empty();
}

std::string runs_verdict(const sim::RunValidation& validation) {
  const sim::GroupScore& all = validation.overall.errors;
  if (all.points == 0) return fmt::format("Nothing could be predicted of {} runs.", all.rows);
  return fmt::format("Median error of a step {}, mean {}, skill {}; 90 % intervals cover {}.", percent(all.median_ape),
                     percent(all.mape), decimal(all.skill), percent(all.coverage90, 0));
}

std::string runs_scope(const sim::RunValidation& validation) {
  const sim::GroupScore& all = validation.overall.errors;
  if (all.points == 0) return "";
  std::string text = fmt::format("{} of {} runs predicted: bias {}, {} within 10 %.", all.predicted, all.rows,
                                 percent(all.bias), percent(all.within_10_percent, 0));
  if (validation.complete > 0) {
    const double share =
        static_cast<double>(validation.complete_predicted) / static_cast<double>(validation.complete);
    text += fmt::format(" Of {} whose workload is complete (tiers A and B, without context or expert parallelism) {} "
                        "are simulated: {}.",
                        validation.complete, validation.complete_predicted, percent(share));
  }
  return text;
}

std::string runs_comparison(const sim::RunValidation& validation) {
  const sim::GroupComparison& all = validation.comparison;
  if (all.groups == 0) return "";
  std::string text = fmt::format("Mean of the errors of {} sources {}", all.groups, percent(all.mean_mape));
  if (all.with_fair > 0) {
    text += fmt::format("; better than one utilisation fitted to all others in {} of {}", all.better_than_fair,
                        all.with_fair);
  }
  if (all.with_hard > 0) {
    text += fmt::format("; than the better one fitted to the source itself in {} of {} where that errs by more than 10 %",
                        all.better_than_hard, all.with_hard);
  }
  return text + ".";
}

Table run_accuracy_table(const std::string& what, const std::vector<sim::RunScore>& scores) {
  Table table;
  table.header = {what, "runs", "median", "mean", "bias", "≤ 10 %", "covered", "left out", "width", "skill"};
  align_numbers(table, 1);
  for (const sim::RunScore& score : scores) {
    const sim::GroupScore& errors = score.errors;
    table.rows.push_back({errors.name, fmt::format("{}/{}", errors.predicted, errors.rows), percent(errors.median_ape),
                          percent(errors.mape), percent(errors.bias), percent(errors.within_10_percent, 0),
                          percent(errors.coverage90, 0), percent(score.coverage_left_out, 0),
                          percent(errors.median_width, 0), decimal(errors.skill)});
  }
  return table;
}

Table ranking_table(const std::string& what, const std::vector<sim::RunScore>& scores) {
  Table table;
  table.header = {what, "sets", "τ", "regret"};
  align_numbers(table, 1);
  for (const sim::RunScore& score : scores) {
    if (score.ranks.sets == 0) continue;
    table.rows.push_back({score.errors.name, fmt::format("{}", score.ranks.sets), decimal(score.ranks.kendall_tau),
                          percent(score.ranks.regret)});
  }
  return table;
}

Table run_baseline_table(const std::string& what, const std::vector<sim::RunScore>& scores) {
  Table table;
  table.header = {what, "foretrain"};
  for (const auto& [name, words] : baseline_columns()) table.header.push_back(words);
  table.header.emplace_back("fair skill");
  align_numbers(table, 1);
  for (const sim::RunScore& score : scores) {
    if (score.errors.points == 0) continue;
    std::vector<std::string> row = {
        score.errors.name, fmt::format("{} / {}", percent(score.errors.median_ape), percent(score.errors.mape))};
    for (const auto& [name, words] : baseline_columns()) {
      const auto found = score.errors.baselines.find(name);
      row.push_back(found == score.errors.baselines.end() || std::isnan(found->second.mape)
                        ? "–"
                        : fmt::format("{} / {}", percent(found->second.median_ape), percent(found->second.mape)));
    }
    row.push_back(decimal(score.fair_skill));
    table.rows.push_back(row);
  }
  return table;
}

Table worst_runs_table(const std::vector<sim::ValidatedRun>& runs, std::size_t most) {
  std::vector<const sim::ValidatedRun*> worst;
  for (const sim::ValidatedRun& run : runs) worst.push_back(&run);
  std::stable_sort(worst.begin(), worst.end(), [](const sim::ValidatedRun* a, const sim::ValidatedRun* b) {
    return std::abs(error_of(*a)) > std::abs(error_of(*b));
  });
  worst.resize(std::min(worst.size(), most));
  Table table;
  table.header = {"run", "source", "GPUs", "plan", "measured", "predicted", "error", "longest beside computing"};
  table.align = {Align::left,  Align::left,  Align::right, Align::left,
                 Align::right, Align::right, Align::right, Align::left};
  for (const sim::ValidatedRun* run : worst) {
    table.rows.push_back({run->label.id, run->label.group, fmt::format("{}", run->gpus), run->plan,
                          fmt::format("{} s", significant(run->measured)),
                          fmt::format("{} s", significant(run->predicted)), percent(error_of(*run), 0), part_text(*run)});
  }
  return table;
}

Table all_runs_table(const std::vector<sim::ValidatedRun>& runs, const std::string& source) {
  Table table;
  table.header = {"run", "GPUs", "plan", "measured", "predicted", "interval", "error", "longest beside computing"};
  table.align = {Align::left,  Align::right, Align::left,  Align::right,
                 Align::right, Align::right, Align::right, Align::left};
  for (const sim::ValidatedRun& run : runs) {
    if (run.label.group != source) continue;
    table.rows.push_back({run.label.id, fmt::format("{}", run.gpus), run.plan,
                          fmt::format("{} s", significant(run.measured)),
                          fmt::format("{} s", significant(run.predicted)),
                          fmt::format("{}–{}", significant(run.low), significant(run.high)),
                          percent(error_of(run), 0), part_text(run)});
  }
  return table;
}

Table declined_runs_table(const sim::RunValidation& validation) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const auto& run : validation.declined) ids[run.reason].push_back(run.label.id);
  std::vector<std::pair<std::string, std::vector<std::string>>> by_count(ids.begin(), ids.end());
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Table table;
  table.header = {"runs", "reason", "such as"};
  table.align = {Align::right, Align::left, Align::left};
  for (const auto& [reason, runs] : by_count) {
    table.rows.push_back({fmt::format("{}", runs.size()), reason, runs.front()});
  }
  return table;
}

std::string run_baselines_legend() {
  return "One constant utilisation by Megatron's formula for FLOPs: fitted to all other groups; to the group itself; "
         "to the group itself, times one plus the bubble. Fair skill: 1 − mean error / that of the first.";
}

}  // namespace foretrain::reports
