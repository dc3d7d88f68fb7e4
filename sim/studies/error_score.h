// Error score: how far predictions of anything are from what was measured, beside what baselines would have erred.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// One prediction beside its measurement, and what each baseline says of it (NaN = it cannot speak).
struct Compared {
  double measured = 0, predicted = 0, low = 0, high = 0;
  const std::map<std::string, double>* baselines = nullptr;
};

// Everything but name and the counts of rows.
[[nodiscard]] GroupScore error_score(const std::vector<Compared>& points);

// 1 − error / `baseline`; NaN where the baseline errs nowhere, or is not known.
[[nodiscard]] double skill_over(double error, double baseline);

}  // namespace foretrain::sim::studies
