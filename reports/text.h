// Text: results for people: the verdict first, then where it comes from; at most 100 columns.
#pragma once

#include <cstddef>
#include <string>

#include "reports/result.h"
#include "reports/style.h"

namespace foretrain::reports {

[[nodiscard]] std::string predict_text(const PredictResult& result, const Style& style);
[[nodiscard]] std::string decide_text(const DecideResult& result, const Style& style);

// Every term of the step with its formula and source (the `top` longest; 0 = all), every uncertain number,
// and what was assumed.
[[nodiscard]] std::string explain_text(const PredictResult& result, std::size_t top, const Style& style);

// The verdict, accuracy by source and kind, baselines, the worst points, what was declined and why.
[[nodiscard]] std::string validate_text(const ValidateResult& result, const Style& style);

}  // namespace foretrain::reports
