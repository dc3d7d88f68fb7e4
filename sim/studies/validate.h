// Validate: published scaling curves predicted from their anchors, and how well that went.
//
// Errors are of the speedup over the anchor, predicted / measured − 1, over points. Beside every error stand two
// baselines that know no physics: linear scaling, and one constant efficiency per doubling of GPUs fitted to all
// other families. Skill is 1 − error / error of the better baseline.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/studies/family.h"

namespace foretrain::sim::studies {

struct ValidatedPoint {
  std::string id, group, kind;
  std::int64_t gpus = 1, anchor_gpus = 1;
  double measured = 0, predicted = 0, low = 0, high = 0;  // speedups over the anchor; the 90 % interval
  std::map<std::string, double> baselines;                // speedup by name of baseline
};

struct GroupScore {
  std::string name;
  std::int64_t rows = 0, predicted = 0, unsupported = 0;  // families
  std::int64_t points = 0;
  // Over points, as fractions. NaN without points.
  double mape = 0, median_ape = 0, bias = 0, within_10_percent = 0;
  double coverage90 = 0, median_width = 0;  // width: (high − low) / predicted
  double skill = 0, median_skill = 0;       // by mape and by median_ape
  struct Baseline {
    double mape = 0, median_ape = 0;
  };
  std::map<std::string, Baseline> baselines;
};

struct Validation {
  std::vector<ValidatedPoint> points;  // by id, then gpus
  std::vector<DeclinedFamily> declined;
  std::vector<GroupScore> groups, kinds;  // by name
  GroupScore overall;
};

struct ValidateOptions {
  unsigned workers = 0;  // processes; 0 = one per core
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

// Predicts every family. One that cannot be simulated after all (an Error) is declined with that reason.
[[nodiscard]] Validation validate(const FamilyCorpus& corpus, const calibrate::Catalogue& catalogue,
                                  const ValidateOptions& options = {});

// The points of one family, in this process.
[[nodiscard]] std::vector<ValidatedPoint> predict_family(const Family& family, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
