// Stack choice: the catalogue's software with what the scenario says differently.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::sim {

// The stack of the catalogue with the scenario's overrides. Throws Error for a key that it does not have and for a value
// that the key cannot have.
[[nodiscard]] calibrate::Stack chosen_stack(const StackChoice& choice, const calibrate::Catalogue& catalogue);

// How gradients are shared: the scenario's reducer, or else the stack's.
[[nodiscard]] const std::string& chosen_reducer(const StackChoice& choice, const calibrate::Stack& stack);

// What is sharded over data-parallel ranks: the plan's word, or else the stack's own way.
[[nodiscard]] const std::string& chosen_sharding(const Plan& plan, const calibrate::Stack& stack);

}  // namespace foretrain::sim
