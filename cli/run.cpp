#include <map>

#include "base/files.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace foretrain::cli {

ExitCode run(int argc, const char* const* argv) {
  const CommandLine line = parse_command_line(argc, argv);
  if (line.answer) {
    write_file("-", *line.answer);
    return ExitCode::done;
  }
  using Command = ExitCode (*)(const Arguments&);
  const std::map<std::string, Command> commands = {{"", welcome},         {"predict", predict},   {"decide", decide},
                                                   {"explain", explain}, {"validate", validate}, {"list", list},
                                                   {"init", init},       {"schema", schema}};
  return commands.at(line.arguments.command)(line.arguments);
}

}  // namespace foretrain::cli
