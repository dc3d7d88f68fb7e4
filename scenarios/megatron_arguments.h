// Megatron arguments: what single parts of a scenario follow from, part by part.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "scenarios/argument_list.h"

namespace foretrain::scenarios {

// Arguments that take no value, which a script's reader has to know.
[[nodiscard]] const std::set<std::string>& megatron_flags();

// Throws Error for what changes time or memory and is not simulated; adds a note for what changes little of it.
void check_megatron_arguments(const ArgumentList& arguments, std::vector<std::string>& notes);

[[nodiscard]] Json megatron_model(const ArgumentList& arguments, std::vector<std::string>& notes);
[[nodiscard]] Json megatron_plan(const ArgumentList& arguments);
// The global batch is left out where it follows from the micro-batch. `gpus`: where they are known.
[[nodiscard]] Json megatron_training(const ArgumentList& arguments, const Json& plan,
                                     std::optional<std::int64_t> gpus);
[[nodiscard]] Json megatron_stack(const ArgumentList& arguments, const Json& plan, const std::string& precision);

}  // namespace foretrain::scenarios
