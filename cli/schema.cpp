#include <nlohmann/json.hpp>

#include "base/data.h"
#include "base/files.h"
#include "cli/commands.h"
#include "reports/json.h"
#include "scenarios/describe.h"

namespace foretrain::cli {

ExitCode schema(const Arguments& arguments) {
  write_file("-", reports::json_text(scenarios::scenario_schema(DataStore(arguments.data))));
  return ExitCode::done;
}

}  // namespace foretrain::cli
