// Requirements: gates on a result, "speedup.value>=3.5".
//
// The key is dotted and looked up in the JSON result, at the root first and then under "prediction";
// numbers are compared with >=, <=, >, < and ==, texts and truth values with ==. Elements of lists are
// counted from 0 ("alternatives.0.gain.value"). Names in the key may have dots themselves.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace foretrain::cli {

// What is not met, one sentence each ("speedup.value is 3.1, required >= 3.5"); empty when all hold. A value
// that is not known meets nothing. Throws Error for text that is no requirement and for unknown keys (the
// nearest is suggested); `source` names where the requirements are from.
[[nodiscard]] std::vector<std::string> unmet_requirements(const std::vector<std::string>& requirements,
                                                          const Json& result,
                                                          const std::string& source = "--require");

// Throws what the above would throw without a result: for checks before long work.
void check_requirements(const std::vector<std::string>& requirements);

}  // namespace foretrain::cli
