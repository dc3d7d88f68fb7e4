// Terminal: who is looking, and with which colours.
#pragma once

#include "cli/arguments.h"
#include "reports/style.h"

namespace foretrain::cli {

// Colour when asked for, or on a terminal unless NO_COLOR is set (to anything) or TERM is "dumb".
[[nodiscard]] reports::Style stdout_style(Colour colour);
[[nodiscard]] reports::Style stderr_style(Colour colour);

[[nodiscard]] bool stderr_is_terminal();

}  // namespace foretrain::cli
