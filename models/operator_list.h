// A user's own model as a list of operators (docs/models.md describes the format).
#pragma once

#include <string>

#include "models/model.h"

namespace foretrain::models {

// `text` is the file, `source` its name for messages. Throws Error with the place of what is wrong.
[[nodiscard]] Model build_operator_list(const std::string& text, const std::string& source, const BatchShape& batch);

}  // namespace foretrain::models
