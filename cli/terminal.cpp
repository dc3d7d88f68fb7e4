#include "cli/terminal.h"

#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace foretrain::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

reports::Style style_for(int descriptor, Colour colour) {
  if (colour != Colour::automatic) return {colour == Colour::always};
  return {isatty(descriptor) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb"};
}

}  // namespace

reports::Style stdout_style(Colour colour) { return style_for(STDOUT_FILENO, colour); }
reports::Style stderr_style(Colour colour) { return style_for(STDERR_FILENO, colour); }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace foretrain::cli
