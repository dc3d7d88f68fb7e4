// Command line: argv to Arguments. The only file of foretrain that sees CLI11 is command_line.cpp.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"

namespace foretrain::cli {

struct CommandLine {
  Arguments arguments;
  std::optional<std::string> answer;  // the text of --help or --version, when that was asked
};

// Throws Error for unknown flags and commands (the nearest is suggested), missing and repeated values.
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace foretrain::cli
