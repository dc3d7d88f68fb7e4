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

// Greatest values that are taken for sizes.
inline constexpr std::int64_t most_megatron_ranks = 65536, most_megatron_layers = 10000;
inline constexpr std::int64_t widest_megatron_size = 10000000;

// A switch that some versions name by what it turns on and others by what it turns off; nothing when none says.
[[nodiscard]] std::optional<bool> switched(const ArgumentList& arguments, const std::vector<std::string>& on,
                                           const std::vector<std::string>& off);
// A whole number from 1 on that has to be there.
[[nodiscard]] std::int64_t required_argument(const ArgumentList& arguments, const std::vector<std::string>& names,
                                             std::int64_t high);

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
