// Commands: one function per subcommand; each returns the exit code and throws Error.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"

namespace foretrain::cli {

ExitCode predict(const Arguments& arguments);
ExitCode decide(const Arguments& arguments);
ExitCode explain(const Arguments& arguments);
ExitCode validate(const Arguments& arguments);
ExitCode list(const Arguments& arguments);
ExitCode schema(const Arguments& arguments);
ExitCode init(const Arguments& arguments);
ExitCode welcome(const Arguments& arguments);  // no command: what to type next

// What help says about a command.
struct CommandHelp {
  std::string name;
  std::string summary;   // one line
  std::string subject;   // its positional argument, "" = none
  std::string subject_doc;
  std::vector<std::string> examples;
};
[[nodiscard]] const std::vector<CommandHelp>& command_help();

// The kinds that `list` knows.
[[nodiscard]] const std::vector<std::string>& list_kinds();

// Parses argv and runs what it asks for.
ExitCode run(int argc, const char* const* argv);

}  // namespace foretrain::cli
