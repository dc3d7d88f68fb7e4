// Score: errors of predicted points, by group, beside what trivial baselines would have erred.
#pragma once

#include <string>
#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// Fills groups, kinds and overall of a validation whose points (with their baselines) and declined families are
// complete. Every family is in one group and one kind.
void fill_scores(Validation& validation);

// The score of some points; of the families only those predicted are counted.
[[nodiscard]] GroupScore score_of(const std::vector<const ValidatedPoint*>& points);

}  // namespace foretrain::sim::studies
