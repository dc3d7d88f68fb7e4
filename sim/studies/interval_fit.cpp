#include "sim/studies/interval_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sim/studies/scaling_interval.h"

namespace foretrain::sim::studies {
namespace {

constexpr std::size_t fewest_runs = 20;

using Class = std::tuple<std::string, std::string, std::string, std::string>;  // family, stack, chip, scale

std::vector<Class> classes_of(const calibrate::RunTraits& traits) {
  return {{traits.family, traits.stack, traits.chip, calibrate::scale_of(traits)},
          {traits.family, traits.stack, traits.chip, ""},
          {traits.family, traits.stack, "", ""}};
}

}  // namespace

std::vector<calibrate::IntervalFactors> fit_interval_factors(const std::vector<const ValidatedRun*>& runs) {
  std::map<Class, std::vector<double>> deviations;
  for (const ValidatedRun* run : runs) {
    const double deviation = std::log(run->measured / run->predicted) / run->log_spread;
    for (const Class& one : classes_of(run->traits)) deviations[one].push_back(deviation);
  }
  std::vector<calibrate::IntervalFactors> all;
  for (const auto& [one, own] : deviations) {
    if (own.size() < fewest_runs) continue;
    const auto& [family, stack, chip, scale] = one;
    const auto [below, above] = shortest_margins(own);
    all.push_back({family, stack, chip, scale, static_cast<std::int64_t>(own.size()), below, above});
  }
  return all;
}

std::vector<bool> held_left_out(const std::vector<const ValidatedRun*>& runs) {
  std::map<std::string, std::vector<calibrate::IntervalFactors>> without;  // by source that was left out
  for (const ValidatedRun* run : runs) {
    if (without.count(run->label.group) > 0) continue;
    std::vector<const ValidatedRun*> others;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(others),
                 [&](const ValidatedRun* other) { return other->label.group != run->label.group; });
    without[run->label.group] = fit_interval_factors(others);
  }
  std::vector<bool> inside;
  for (const ValidatedRun* run : runs) {
    const StepMargins margins = step_margins(
        run->log_spread, calibrate::factors_for(without.at(run->label.group), run->traits), run->repeat_spread);
    const double deviation = std::log(run->measured / run->predicted);
    inside.push_back(-margins.below <= deviation && deviation <= margins.above);
  }
  return inside;
}

}  // namespace foretrain::sim::studies
