// Key hints: what to say about a key that a scenario does not know.
#pragma once

#include <string>
#include <vector>

#include "scenarios/fields.h"

namespace foretrain::scenarios {

// The key as written is not among `known` (rows of one section). In order: the same quantity in another unit
// ("step_ms": step_seconds is in seconds), another tool's word for it, something that is never written, a
// misspelling, and else the list of keys. `prefix` stands before every key that is named: "cluster." for dotted keys.
[[nodiscard]] std::string key_hint(const std::string& key, const std::vector<const FieldInfo*>& known,
                                   const std::string& prefix = "");

}  // namespace foretrain::scenarios
