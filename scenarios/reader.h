// Reader: scenario text to values.
//
// One field table (fields.h) drives reading, checking, `schema`, `init` and the docs page. The same
// dotted keys serve the file, --set, --over and `options`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/data.h"
#include "base/json.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// One `key=value` of --set; the value is JSON, or a bare word taken as a string.
struct Assignment {
  std::string key;    // dotted: "cluster.gpus"
  std::string value;  // text after '='
  std::string where;  // "--set cluster.gpus=8"
};
[[nodiscard]] Assignment parse_assignment(std::string_view text, const std::string& option);

// Reads a scenario with its options. `set` is applied to the base (and so to every option). `directory` is
// where relative file names inside the scenario (operators) are looked up.
// Throws Error with file and JSON pointer.
[[nodiscard]] sim::Question read_question(std::string_view text, const std::string& source,
                                          const std::vector<Assignment>& set, const std::string& directory);

// The scenario from flags alone (--model, --machine, --gpus, --batch, …) as JSON text: the same path in.
struct QuickScenario {
  std::string model, machine, sequence, batch, gpus, step;
  std::vector<std::string> try_machines;  // "Standard_ND96amsr_A100_v4:1-4"
};
[[nodiscard]] Json quick_scenario(const QuickScenario& quick, const DataStore& data);

// A scenario back as JSON in the field table's order: what differs from the defaults.
[[nodiscard]] Json write_scenario(const sim::Scenario& scenario);

}  // namespace foretrain::scenarios
