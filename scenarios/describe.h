// Describe: the scenario format, written out of the field table for editors, newcomers and readers.
#pragma once

#include <string>

#include "base/data.h"
#include "base/json.h"

namespace foretrain::scenarios {

// JSON Schema (draft-07) of a scenario: `foretrain schema`. Sizes and names of zoo entries are those of `data`.
[[nodiscard]] Json scenario_schema(const DataStore& data);

// A commented scenario to start from, which reads as it stands: `foretrain init`.
[[nodiscard]] std::string scenario_template();

// docs/scenario.md.
[[nodiscard]] std::string scenario_page();

}  // namespace foretrain::scenarios
