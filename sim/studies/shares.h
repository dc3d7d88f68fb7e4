// Shares: how much of a step rests on each uncertain number, and what that makes of its interval.
//
// To first order the logarithm of a step's time moves by share · (logarithm of the parameter's multiplier):
// the share of the critical path that the parameter accounts for. Parameters are independent of one another,
// so squares add; one parameter that two runs share moves both, so shares subtract in their ratio.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/quantity.h"
#include "sim/prediction.h"
#include "sim/timeline.h"

namespace foretrain::sim::studies {

// Share of the step by parameter name, 0…1, with the parameter's own spread.
struct ParameterEffect {
  double share = 0;
  double relative_spread = 0;
};
using Effects = std::map<std::string, ParameterEffect>;

[[nodiscard]] Effects effects_of(const std::vector<CriticalShare>& critical, double step_seconds,
                                 const ParameterTable& parameters);
[[nodiscard]] Effects effects_of(const Prediction& prediction);

// Standard deviation of the logarithm of a step's time, and of the ratio of two of them.
[[nodiscard]] double log_spread(const Effects& effects);
[[nodiscard]] double log_spread_of_ratio(const Effects& a, const Effects& b);

// Half the width of the 90 % interval of a standard normal variable: the 95 % quantile.
[[nodiscard]] double half_width_90();
// `value` with its log-normal 90 % interval.
[[nodiscard]] Quantity log_normal_quantity(double value, double log_spread, const std::string& unit,
                                           const std::string& provenance);
// A quantity whose number is not known, with the reason in its provenance.
[[nodiscard]] Quantity unknown_quantity(const std::string& unit, const std::string& reason);

}  // namespace foretrain::sim::studies
