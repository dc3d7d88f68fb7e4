// Validate: published scaling curves predicted from their anchors, and how well that went.
//
// Errors are of the speedup over the anchor, predicted / measured − 1, over points. Beside every error stand two
// baselines that know no physics: linear scaling, and one constant efficiency per doubling of GPUs fitted to all
// other families. Skill is 1 − error / error of the better baseline.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/family.h"
#include "sim/validation.h"

namespace foretrain::sim::studies {

using sim::GroupScore;
using sim::ValidatedPoint;
using sim::Validation;

struct ValidateOptions {
  unsigned workers = 0;  // processes; 0 = one per core
  // Called after every family, and every second in between.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

// Predicts every family, in worker processes (base/workers.h: no other thread may be running). One that cannot be
// simulated after all is declined with that reason; one whose worker crashed, was ended or failed counts as lost as
// well. Throws Error when two families have one id.
[[nodiscard]] Validation validate(const FamilyCorpus& corpus, const calibrate::Catalogue& catalogue,
                                  const ValidateOptions& options = {});

// The points of one family, in this process; their baselines, which need the other families, are empty.
[[nodiscard]] std::vector<ValidatedPoint> predict_family(const Family& family, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
