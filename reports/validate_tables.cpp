#include "reports/validate_tables.h"

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

// Without points there is no error: a dash.
std::string percent(double fraction, int decimals = 1) {
  return std::isnan(fraction) ? "–" : format_percent(fraction, decimals);
}

std::string skill_text(double skill) { return std::isnan(skill) ? "–" : fmt::format("{:.2f}", skill); }

double error_of(const sim::ValidatedPoint& point) { return point.predicted / point.measured - 1; }

std::string loss_text(const sim::ValidatedPoint& point) {
  if (point.largest_loss.empty()) return "none";
  return fmt::format("{} {}", key_words(point.largest_loss), format_percent(point.largest_loss_share));
}

}  // namespace

std::string validate_verdict(const sim::Validation& validation) {
  const sim::GroupScore& all = validation.overall;
  if (all.points == 0) return fmt::format("Nothing could be predicted of {} families.", all.rows);
  return fmt::format("Median error {}, mean {}, skill {}; 90 % intervals cover {}.", percent(all.median_ape),
                     percent(all.mape), skill_text(all.skill), percent(all.coverage90, 0));
}

std::string validate_scope(const sim::Validation& validation) {
  const sim::GroupScore& all = validation.overall;
  if (all.points == 0) return "";
  return fmt::format("{} of {} families predicted, {} points: bias {}, {} within 10 %.", all.predicted, all.rows,
                     all.points, percent(all.bias), percent(all.within_10_percent, 0));
}

Table accuracy_table(const std::string& what, const std::vector<sim::GroupScore>& scores) {
  Table table;
  table.header = {what, "curves", "points", "median", "mean", "bias", "≤ 10 %", "covered", "width", "skill"};
  table.align = {Align::left};
  table.align.resize(table.header.size(), Align::right);
  for (const sim::GroupScore& score : scores) {
    table.rows.push_back({score.name, fmt::format("{}/{}", score.predicted, score.rows),
                          fmt::format("{}", score.points), percent(score.median_ape), percent(score.mape),
                          percent(score.bias), percent(score.within_10_percent, 0), percent(score.coverage90, 0),
                          percent(score.median_width, 0), skill_text(score.skill)});
  }
  return table;
}

Table baseline_table(const std::string& what, const std::vector<sim::GroupScore>& scores) {
  Table table;
  table.header = {what, "foretrain"};
  for (const auto& [name, errors] :
       scores.empty() ? std::map<std::string, sim::GroupScore::Baseline>() : scores.back().baselines) {
    table.header.push_back(key_words(name));
  }
  table.header.push_back("skill");
  table.align = {Align::left};
  table.align.resize(table.header.size(), Align::right);
  for (const sim::GroupScore& score : scores) {
    if (score.points == 0) continue;
    std::vector<std::string> row = {score.name, fmt::format("{} / {}", percent(score.median_ape), percent(score.mape))};
    for (const auto& [name, errors] : score.baselines) {
      row.push_back(fmt::format("{} / {}", percent(errors.median_ape), percent(errors.mape)));
    }
    row.push_back(fmt::format("{} / {}", skill_text(score.median_skill), skill_text(score.skill)));
    table.rows.push_back(row);
  }
  return table;
}

Table worst_points_table(const std::vector<sim::ValidatedPoint>& points, std::size_t most) {
  std::vector<const sim::ValidatedPoint*> worst;
  for (const sim::ValidatedPoint& point : points) worst.push_back(&point);
  std::stable_sort(worst.begin(), worst.end(), [](const sim::ValidatedPoint* a, const sim::ValidatedPoint* b) {
    return std::abs(error_of(*a)) > std::abs(error_of(*b));
  });
  worst.resize(std::min(worst.size(), most));
  Table table;
  table.header = {"family", "source", "GPUs", "measured", "predicted", "error", "largest predicted loss"};
  table.align = {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::left};
  for (const sim::ValidatedPoint* point : worst) {
    table.rows.push_back(
        {point->id, point->group, fmt::format("{} → {}", point->anchor_gpus, point->gpus),
         fmt::format("{}×", significant(point->measured)),
         fmt::format("{}× [{}–{}]", significant(point->predicted), significant(point->low), significant(point->high)),
         percent(error_of(*point), 0), loss_text(*point)});
  }
  return table;
}

Table declined_table(const sim::Validation& validation) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const auto& family : validation.declined) ids[family.reason].push_back(family.id);
  std::vector<std::pair<std::string, std::vector<std::string>>> by_count(ids.begin(), ids.end());
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Table table;
  table.header = {"curves", "reason", "such as"};
  table.align = {Align::right, Align::left, Align::left};
  for (const auto& [reason, families] : by_count) {
    table.rows.push_back({fmt::format("{}", families.size()), reason, families.front()});
  }
  return table;
}

}  // namespace foretrain::reports
