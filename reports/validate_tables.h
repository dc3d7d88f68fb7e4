// Validate tables: what text and Markdown say of a validation, in the same words and numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/table.h"
#include "sim/validation.h"

namespace foretrain::reports {

// "Median error 3.5 %, mean 6.3 %, skill 0.62; 90 % intervals cover 91 %." or that nothing was predicted.
[[nodiscard]] std::string validate_verdict(const sim::Validation& validation);
// "300 of 324 families predicted, 860 points: bias −0.3 %, 79 % within 10 %."
[[nodiscard]] std::string validate_scope(const sim::Validation& validation);

// One row per score: families and points, median and mean error, bias, share within 10 %, coverage and median width
// of the 90 % intervals, skill. `what` heads the names.
[[nodiscard]] Table accuracy_table(const std::string& what, const std::vector<sim::GroupScore>& scores);
// Median and mean errors of the baselines beside those of the predictions, and the skill by either.
[[nodiscard]] Table baseline_table(const std::string& what, const std::vector<sim::GroupScore>& scores);

// The points that are most wrong, by |error|, the worst first; with the part of the step that the prediction loses
// most efficiency to.
[[nodiscard]] Table worst_points_table(const std::vector<sim::ValidatedPoint>& points, std::size_t most);

// How many families were declined for which reason, the most frequent first.
[[nodiscard]] Table declined_table(const sim::Validation& validation);

}  // namespace foretrain::reports
