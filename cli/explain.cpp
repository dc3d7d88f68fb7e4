#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "scenarios/reader.h"
#include "sim/studies/predict.h"

namespace foretrain::cli {

ExitCode explain(const Arguments& arguments) {
  check_outputs(arguments);
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};
  const Input input = read_input(arguments, catalogue);

  reports::PredictResult result;
  result.head = head_of(arguments, input, catalogue);
  result.scenario = input.question.base;
  result.workload = workload_of(result.scenario, catalogue);
  sim::studies::PredictOptions options = predict_options(arguments, input);
  options.explain = true;
  result.prediction = answered(input, [&] { return sim::studies::predict(result.scenario, catalogue, options); });

  deliver(arguments, {[&] { return reports::explain_text(result, arguments.top, stdout_style(arguments.colour)); },
                      [&] { return reports::json_text(reports::result_json(result, scenarios::write_scenario)); },
                      [&] { return reports::terms_csv(result); },
                      [&] { return reports::markdown(result); }});
  if (!text_is_shown(arguments)) warn_all(arguments, result.prediction.warnings);
  return ExitCode::done;
}

}  // namespace foretrain::cli
