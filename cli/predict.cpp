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
#include "reports/trace.h"
#include "scenarios/reader.h"
#include "sim/studies/predict.h"
#include "sim/studies/run.h"

namespace foretrain::cli {

ExitCode predict(const Arguments& arguments) {
  check_requirements(arguments.require);
  check_outputs(arguments);
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};
  const Input input = read_input(arguments, catalogue);

  reports::PredictResult result;
  result.head = head_of(arguments, input, catalogue);
  result.scenario = input.question.base;
  result.workload = workload_of(result.scenario, catalogue);
  std::string trace;
  {
    const Progress progress(fmt::format("{} replays", arguments.replays), !arguments.quiet && arguments.replays > 0);
    result.prediction =
        answered(input, [&] {
          sim::studies::PredictOptions options = predict_options(arguments, input);
          if (!arguments.trace.empty()) {
            options.observe = [&](const sim::studies::Run& run, const sim::Timeline& timeline) {
              trace = reports::trace_json(run.job(), timeline, run.traffic(timeline));
            };
          }
          return sim::studies::predict(result.scenario, catalogue, options);
        });
  }

  const Json json = reports::result_json(result, scenarios::write_scenario);
  const std::vector<std::string> unmet = unmet_requirements(arguments.require, json);
  deliver(arguments, {[&] { return reports::predict_text(result, stdout_style(arguments.colour)); },
                      [&] { return reports::json_text(json); }, [&] { return reports::csv(result); },
                      [&] { return reports::markdown(result); }, [&] { return trace; }});
  if (!text_is_shown(arguments)) warn_all(arguments, result.prediction.warnings);
  if (!input.question.options.empty()) {
    note(arguments,
         fmt::format("the scenario has {} options: foretrain decide compares them", input.question.options.size()));
  }
  return report_gate(unmet);
}

}  // namespace foretrain::cli
