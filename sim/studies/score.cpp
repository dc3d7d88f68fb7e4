#include "sim/studies/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/statistics.h"

namespace foretrain::sim::studies {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? unknown : sum / static_cast<double>(values.size());
}

// NaN without values, and where one of them is NaN: a baseline that cannot speak has no error.
double median(const std::vector<double>& values) {
  const bool all_known = std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  return values.empty() || !all_known ? unknown : quantile(values, 0.5);
}

double better_skill(double error, const std::map<std::string, GroupScore::Baseline>& baselines,
                    double GroupScore::Baseline::*kind_of_error) {
  double best = unknown;
  for (const auto& [name, baseline] : baselines) best = std::fmin(best, baseline.*kind_of_error);  // ignores NaN
  return best > 0 ? 1 - error / best : unknown;
}

using PointsByName = std::map<std::string, std::vector<const ValidatedPoint*>>;

std::vector<GroupScore> scores_by(const Validation& validation, std::string ValidatedPoint::*name_of_point,
                                  std::string DeclinedFamily::*name_of_declined) {
  PointsByName points;
  for (const ValidatedPoint& point : validation.points) points[point.*name_of_point].push_back(&point);
  std::map<std::string, std::int64_t> declined;
  for (const DeclinedFamily& family : validation.declined) {
    ++declined[family.*name_of_declined];
    points[family.*name_of_declined];
  }
  std::vector<GroupScore> scores;
  for (const auto& [name, own] : points) {
    GroupScore score = score_of(own);
    score.name = name;
    score.unsupported = declined[name];
    score.rows = score.predicted + score.unsupported;
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

GroupScore score_of(const std::vector<const ValidatedPoint*>& points) {
  std::set<std::string> families;
  std::vector<double> errors, sizes, close, covered, widths;
  std::map<std::string, std::vector<double>> baseline_sizes;
  for (const ValidatedPoint* point : points) {
    families.insert(point->id);
    errors.push_back(point->predicted / point->measured - 1);
    sizes.push_back(std::abs(errors.back()));
    close.push_back(sizes.back() <= 0.1 ? 1 : 0);
    covered.push_back(point->low <= point->measured && point->measured <= point->high ? 1 : 0);
    widths.push_back((point->high - point->low) / point->predicted);
    for (const auto& [name, speedup] : point->baselines) {
      baseline_sizes[name].push_back(std::abs(speedup / point->measured - 1));
    }
  }
  GroupScore score;
  score.predicted = score.rows = static_cast<std::int64_t>(families.size());
  score.points = static_cast<std::int64_t>(points.size());
  score.mape = mean(sizes);
  score.median_ape = median(sizes);
  score.bias = mean(errors);
  score.within_10_percent = mean(close);
  score.coverage90 = mean(covered);
  score.median_width = median(widths);
  for (const auto& [name, own] : baseline_sizes) score.baselines[name] = {mean(own), median(own)};
  score.skill = better_skill(score.mape, score.baselines, &GroupScore::Baseline::mape);
  score.median_skill = better_skill(score.median_ape, score.baselines, &GroupScore::Baseline::median_ape);
  return score;
}

void fill_scores(Validation& validation) {
  validation.groups = scores_by(validation, &ValidatedPoint::group, &DeclinedFamily::group);
  validation.kinds = scores_by(validation, &ValidatedPoint::kind, &DeclinedFamily::kind);
  std::vector<const ValidatedPoint*> all;
  for (const ValidatedPoint& point : validation.points) all.push_back(&point);
  validation.overall = score_of(all);
  validation.overall.name = "overall";
  validation.overall.unsupported = static_cast<std::int64_t>(validation.declined.size());
  validation.overall.rows = validation.overall.predicted + validation.overall.unsupported;
}

}  // namespace foretrain::sim::studies
