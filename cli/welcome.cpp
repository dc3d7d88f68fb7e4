#include <string>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "reports/style.h"

namespace foretrain::cli {

ExitCode welcome(const Arguments& arguments) {
  const reports::Style style = stdout_style(arguments.colour);
  std::string text = style.bold("foretrain forecasts how fast deep-learning training runs when it is distributed.") + '\n';
  text += "\nType next, for instance:\n";
  for (const CommandHelp& help : command_help()) {
    text += fmt::format("\n  {}\n", style.dim(help.summary));
    text += "    " + help.examples.front() + '\n';
  }
  text += "\nA first answer without any file:\n\n"
          "    foretrain predict --model resnet50 --machine p3.16xlarge --gpus 8 --batch 64 --precision fp16\n"
          "\nforetrain COMMAND --help says more.\n";
  if (!arguments.quiet) write_file("-", text);
  return ExitCode::done;
}

}  // namespace foretrain::cli
