#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/require.h"
#include "cli/terminal.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "reports/warnings.h"
#include "scenarios/reader.h"
#include "sim/studies/decide.h"

namespace foretrain::cli {

ExitCode decide(const Arguments& arguments) {
  check_requirements(arguments.require);
  check_outputs(arguments);
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};
  const Input input = read_input(arguments, catalogue);
  if (input.question.options.empty()) {
    throw Error("there is nothing to compare with", arguments.subject.empty() ? "foretrain decide" : arguments.subject,
                arguments.subject.empty() ? "add --try MACHINE:1-4" : "add \"options\" to the scenario");
  }

  reports::DecideResult result;
  result.head = head_of(arguments, input, catalogue);
  result.workload = workload_of(input.question.base, catalogue);
  {
    const std::string work =
        fmt::format("{} replays of {} scenarios", arguments.replays, input.question.options.size() + 1);
    const Progress progress(work, !arguments.quiet && arguments.replays > 0);
    result.decision = answered(
        input, [&] { return sim::studies::decide(input.question, catalogue, predict_options(arguments, input)); });
  }

  const Json json = reports::result_json(result, scenarios::write_scenario);
  const std::vector<std::string> unmet = unmet_requirements(arguments.require, json);
  deliver(arguments, {[&] { return reports::decide_text(result, stdout_style(arguments.colour)); },
                      [&] { return reports::json_text(json); },
                      [&] { return reports::csv(result); },
                      [&] { return reports::markdown(result); }});
  if (!text_is_shown(arguments)) {
    std::vector<std::string> warnings;
    for (const reports::SharedWarning& one : reports::shared_warnings(result.decision)) warnings.push_back(one.text);
    warn_all(arguments, warnings);
  }
  return report_gate(unmet);
}

}  // namespace foretrain::cli
