// The program: runs the command line and turns what goes wrong into one message and an exit code.

#include <csignal>
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace {

using foretrain::ExitCode;

// Nothing needs saving: outputs are renamed into place when whole.
extern "C" void interrupted(int) { _exit(static_cast<int>(ExitCode::interrupted)); }

void print_error(const std::string& message, const std::string& where, const std::string& hint) {
  const foretrain::reports::Style style = foretrain::cli::stderr_style(foretrain::cli::Colour::automatic);
  std::string text = style.error("foretrain: error:") + ' ';
  if (!where.empty()) text += where + ": ";
  text += message + '\n';
  if (!hint.empty()) text += "  " + hint + '\n';
  fmt::print(stderr, "{}", text);
}

int exit_code(ExitCode code) { return static_cast<int>(code); }

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, interrupted);
  try {
    return exit_code(foretrain::cli::run(argc, argv));
  } catch (const foretrain::Error& error) {
    print_error(error.what(), error.where(), error.hint());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    print_error("out of memory", "", "fewer GPUs, or without --no-fold, needs less");
  } catch (const std::exception& error) {
    print_error(foretrain::printable(error.what(), 400), "",
                "this is a fault of foretrain, not of your input; please report it with the command line");
  }
  return exit_code(ExitCode::failed);
}
