// Validation: what was predicted of measured runs, and how well that went.
//
// Plain structs that sim/studies fills and reports write. Errors are of the speedup over the anchor, predicted /
// measured − 1, over points, as fractions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/family.h"

namespace foretrain::sim {

struct ValidatedPoint {
  std::string id, group, kind;
  std::int64_t gpus = 1, anchor_gpus = 1;
  double measured = 0, predicted = 0, low = 0, high = 0;  // speedups over the anchor; the 90 % interval
  std::map<std::string, double> baselines;                // speedup by name of baseline; NaN = it has none
  // The part of the step (a key of the breakdown) that costs most of the efficiency relative to the anchor, and how
  // much it costs, as a share of the step; empty when nothing is lost.
  std::string largest_loss;
  double largest_loss_share = 0;
};

struct GroupScore {
  std::string name;
  std::int64_t rows = 0, predicted = 0, unsupported = 0;  // families
  std::int64_t points = 0;
  // NaN without points.
  double mape = 0, median_ape = 0, bias = 0, within_10_percent = 0;
  double coverage90 = 0, median_width = 0;  // width: (high − low) / predicted
  // 1 − error / error of the better baseline, by mape and by median_ape; NaN where that baseline errs nowhere.
  double skill = 0, median_skill = 0;
  struct Baseline {
    double mape = 0, median_ape = 0;
  };
  std::map<std::string, Baseline> baselines;
};

struct Validation {
  std::vector<ValidatedPoint> points;             // by id, then gpus
  std::vector<DeclinedFamily> declined;           // by id
  std::int64_t lost = 0;  // declined because their worker ended or failed: a failure of ours, not of the family
  std::vector<GroupScore> groups, kinds;          // by name
  GroupScore overall;
};

}  // namespace foretrain::sim
