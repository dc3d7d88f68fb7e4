#include <fmt/format.h>

#include "base/text.h"
#include "reports/sections.h"
#include "reports/sentences.h"
#include "reports/text.h"

namespace foretrain::reports {

std::string predict_text(const PredictResult& result, const Style& style) {
  constexpr std::size_t parameters_shown = 6;
  const sim::Scenario& scenario = result.scenario;
  const sim::Prediction& prediction = result.prediction;
  const std::string model = printable(result.workload.model);

  std::string text = style.bold(wrapped(headline(scenario, prediction)));
  text += wrapped(bound_and_fit(prediction));
  text += '\n' + wrapped(fmt::format("{} on {}, {}.", model, cluster_words(scenario, prediction),
                                     training_words(scenario, prediction)));
  const std::string work = workload_words(result.workload, scenario, prediction);
  if (!work.empty()) text += wrapped(work + '.');
  const std::string record = track_record_words(prediction);
  if (!record.empty()) text += wrapped(record);
  text += warning_section(prediction.warnings, style);
  text += breakdown_section("Where the step goes", prediction, style);
  text += memory_section(prediction, style);
  text += money_section(scenario, prediction, style);
  text += parameter_section(prediction, parameters_shown, false, style);
  return text;
}

}  // namespace foretrain::reports
