#include <filesystem>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "scenarios/describe.h"

namespace foretrain::cli {

ExitCode init(const Arguments& arguments) {
  const std::string path = arguments.subject.empty() ? "-" : arguments.subject;
  std::error_code error;
  if (path != "-" && std::filesystem::exists(path, error)) {
    throw Error("exists already", printable(path), "give another name; foretrain init overwrites nothing");
  }
  write_file(path, scenarios::scenario_template());
  if (path != "-") {
    note(arguments, fmt::format("wrote {0}; edit it, then: foretrain predict {0}", printable(path)));
  }
  return ExitCode::done;
}

}  // namespace foretrain::cli
