// Markdown: a result to paste into an issue, a page or a review.
#pragma once

#include <string>

#include "reports/result.h"

namespace foretrain::reports {

[[nodiscard]] std::string markdown(const PredictResult& result);
[[nodiscard]] std::string markdown(const DecideResult& result);
[[nodiscard]] std::string markdown(const ValidateResult& result);

}  // namespace foretrain::reports
