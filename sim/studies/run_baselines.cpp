#include "sim/studies/run_baselines.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <string>

namespace foretrain::sim::studies {
namespace {

double plain(const ValidatedRun& run) { return run.ideal_step_seconds; }
double with_bubble(const ValidatedRun& run) { return run.ideal_step_seconds * (1 + run.bubble); }

using Shape = double (*)(const ValidatedRun&);

// Fitted to the runs of `group`, or to all others.
double fitted(const std::vector<ValidatedRun>& runs, const std::string& group, bool to_group, Shape shape) {
  std::vector<double> ideal, measured;
  for (const ValidatedRun& run : runs) {
    if ((run.label.group == group) != to_group) continue;
    ideal.push_back(shape(run));
    measured.push_back(run.measured);
  }
  return best_utilisation(ideal, measured);
}

}  // namespace

double best_utilisation(const std::vector<double>& ideal, const std::vector<double>& measured) {
  assert(ideal.size() == measured.size());
  // With x = 1 / u the sum of |a·x − 1|, a = ideal / measured, is least where the a of the points whose 1 / a lies
  // below x weigh as much as the others: at the median of 1 / a weighted by a.
  std::vector<double> ratios;
  double all = 0;
  for (std::size_t i = 0; i < ideal.size(); ++i) {
    ratios.push_back(ideal[i] / measured[i]);
    all += ratios.back();
  }
  std::sort(ratios.begin(), ratios.end(), std::greater<>());  // 1 / a ascending
  double below = 0;
  for (const double ratio : ratios) {
    below += ratio;
    if (below >= all / 2) return ratio;
  }
  return std::nan("");
}

void fill_baselines(std::vector<ValidatedRun>& runs) {
  std::set<std::string> groups;
  for (const ValidatedRun& run : runs) groups.insert(run.label.group);
  for (const std::string& group : groups) {
    const double own = fitted(runs, group, true, plain), own_with_bubble = fitted(runs, group, true, with_bubble);
    const double others = fitted(runs, group, false, plain);
    for (ValidatedRun& run : runs) {
      if (run.label.group != group) continue;
      run.baselines["utilisation_of_group"] = plain(run) / own;
      run.baselines["utilisation_and_bubble_of_group"] = with_bubble(run) / own_with_bubble;
      run.baselines[fair_baseline] = plain(run) / others;
    }
  }
}

}  // namespace foretrain::sim::studies
