#include "sim/studies/error_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  return skill_over(error, best);
}

}  // namespace

double skill_over(double error, double baseline) { return baseline > 0 ? 1 - error / baseline : unknown; }

GroupScore error_score(const std::vector<Compared>& points) {
  std::vector<double> errors, sizes, close, covered, widths;
  std::map<std::string, std::vector<double>> baseline_sizes;
  for (const Compared& point : points) {
    errors.push_back(point.predicted / point.measured - 1);
    sizes.push_back(std::abs(errors.back()));
    close.push_back(sizes.back() <= 0.1 ? 1 : 0);
    covered.push_back(point.low <= point.measured && point.measured <= point.high ? 1 : 0);
    widths.push_back((point.high - point.low) / point.predicted);
    if (point.baselines == nullptr) continue;
    for (const auto& [name, said] : *point.baselines) {
      baseline_sizes[name].push_back(std::abs(said / point.measured - 1));
    }
  }
  GroupScore score;
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

}  // namespace foretrain::sim::studies
