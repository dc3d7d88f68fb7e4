// Megatron: a run of Megatron-LM or Megatron-DeepSpeed as a scenario.
//
// From a launch script with plain values, or better from a log, which has every argument resolved and says how long
// iterations took. Names and defaults are those of megatron/training/arguments.py, older names among them. An argument
// that changes time or memory in a way that is not simulated is an Error; others are ignored, and counted in a note.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace foretrain::scenarios {

// The scenario without its machine: "model", "training", "stack", "plan", "cluster": {"gpus"} where that is known
// (`gpus`, else the log's world_size or the launcher's arguments), "measured" from a log's iterations. `notes` are
// sentences for the user. Throws Error with file and line.
[[nodiscard]] Json megatron_scenario(std::string_view text, const std::string& source,
                                     std::optional<std::int64_t> gpus, std::vector<std::string>& notes);

}  // namespace foretrain::scenarios
