// Gate: bars that a validation has to clear, from a file.
//
//   {"overall.mape": {"max": 0.08}, "groups.azure.coverage90": {"min": 0.85, "max": 0.97}}
//
// Keys are dotted: overall, groups.NAME or kinds.NAME, then a score as in the JSON result.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace foretrain::cli {

// The bars of the gate `text` as requirements ("overall.mape<=0.08"). Throws Error, naming `source`, for text that is
// no such file.
[[nodiscard]] std::vector<std::string> gate_requirements(const std::string& text, const std::string& source);

}  // namespace foretrain::cli
