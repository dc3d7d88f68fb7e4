#include "sim/studies/score_baselines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace foretrain::sim::studies {
namespace {

double ratio_of(const ValidatedPoint& point) {
  return static_cast<double>(point.gpus) / static_cast<double>(point.anchor_gpus);
}

double speedup_at(double efficiency, const ValidatedPoint& point) {
  const double ratio = ratio_of(point);
  return ratio * std::pow(efficiency, std::log2(ratio));
}

// Sums of absolute relative errors over points, one per candidate efficiency.
using Errors = std::vector<double>;

void add_errors(Errors& errors, const std::vector<double>& candidates, const ValidatedPoint& point, double sign) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    errors[i] += sign * std::abs(speedup_at(candidates[i], point) / point.measured - 1);
  }
}

using Families = std::map<std::string, std::vector<const ValidatedPoint*>>;

// The best candidate for all points but those of each family: of sums over all points, the family's own is taken off.
std::map<std::string, std::size_t> best_without(const Families& families, const std::vector<double>& candidates) {
  Errors all(candidates.size(), 0.0);
  for (const auto& [id, points] : families) {
    for (const ValidatedPoint* point : points) add_errors(all, candidates, *point, 1);
  }
  std::map<std::string, std::size_t> best;
  for (const auto& [id, points] : families) {
    Errors others = all;
    for (const ValidatedPoint* point : points) add_errors(others, candidates, *point, -1);
    best[id] = static_cast<std::size_t>(std::min_element(others.begin(), others.end()) - others.begin());
  }
  return best;
}

constexpr std::size_t most_candidates = 512;

std::vector<double> thinned(const std::vector<double>& sorted) {
  if (sorted.size() <= most_candidates) return sorted;
  std::vector<double> some;
  for (std::size_t i = 0; i < most_candidates; ++i) {
    some.push_back(sorted[i * (sorted.size() - 1) / (most_candidates - 1)]);
  }
  return some;
}

// The efficiencies at which one of the points is met exactly, ascending: the sum of absolute errors has its kinks, and
// nearly always its minimum, at them.
std::vector<double> exact_efficiencies(const std::vector<ValidatedPoint>& points) {
  std::vector<double> kinks;
  for (const ValidatedPoint& point : points) {
    if (point.gpus == point.anchor_gpus) continue;
    kinks.push_back(std::pow(point.measured / ratio_of(point), 1 / std::log2(ratio_of(point))));
  }
  std::sort(kinks.begin(), kinks.end());
  kinks.erase(std::unique(kinks.begin(), kinks.end()), kinks.end());
  return kinks;
}

// The candidates that were best, each with a grid up to its neighbours on both sides.
std::vector<double> finer(const std::vector<double>& candidates, const std::map<std::string, std::size_t>& best) {
  std::set<std::size_t> chosen;
  for (const auto& [id, candidate] : best) chosen.insert(candidate);
  const std::size_t steps = std::max<std::size_t>(8, most_candidates / chosen.size());
  std::vector<double> fine;
  for (const std::size_t i : chosen) {
    fine.push_back(candidates[i]);
    const double low = candidates[i > 0 ? i - 1 : 0], high = candidates[std::min(i + 1, candidates.size() - 1)];
    for (std::size_t step = 1; step < steps; ++step) {
      fine.push_back(low + (high - low) * static_cast<double>(step) / static_cast<double>(steps));
    }
  }
  std::sort(fine.begin(), fine.end());
  fine.erase(std::unique(fine.begin(), fine.end()), fine.end());
  return fine;
}

// The efficiency fitted to all families but each one; with a single family NaN.
std::map<std::string, double> efficiency_without(const std::vector<ValidatedPoint>& points) {
  Families families;
  for (const ValidatedPoint& point : points) families[point.id].push_back(&point);
  std::map<std::string, double> efficiency;
  std::vector<double> candidates = thinned(exact_efficiencies(points));
  if (families.size() < 2 || candidates.empty()) {
    for (const auto& [id, own] : families) efficiency[id] = std::numeric_limits<double>::quiet_NaN();
    return efficiency;
  }
  std::map<std::string, std::size_t> best = best_without(families, candidates);
  constexpr int rounds = 3;  // each narrows the distance of candidates at least fourfold, usually a hundredfold
  for (int round = 0; round < rounds; ++round) {
    candidates = finer(candidates, best);
    best = best_without(families, candidates);
  }
  for (const auto& [id, candidate] : best) efficiency[id] = candidates[candidate];
  return efficiency;
}

}  // namespace

void fill_baselines(std::vector<ValidatedPoint>& points) {
  const std::map<std::string, double> efficiency = efficiency_without(points);
  for (ValidatedPoint& point : points) {
    point.baselines["linear"] = ratio_of(point);
    point.baselines["constant_efficiency"] = speedup_at(efficiency.at(point.id), point);
  }
}

}  // namespace foretrain::sim::studies
