// Launch script: the arguments that a shell script calls a training program with.
//
// Nothing is executed. Arguments are found wherever they stand (the command itself, arrays, quoted lists), with the
// values that their variables have there. An argument under a condition, or one given twice with different values,
// becomes a problem of that argument, which matters only when somebody asks for it.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/argument_list.h"

namespace foretrain::scenarios {

// `flags` are the names of arguments that take no value. Throws Error when the text has no arguments at all.
[[nodiscard]] ArgumentList read_launch_script(std::string_view text, const std::string& source,
                                              const std::set<std::string>& flags);

}  // namespace foretrain::scenarios
