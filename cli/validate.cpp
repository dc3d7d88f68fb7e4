#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/input.h"
#include "cli/measured_input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/require.h"
#include "cli/terminal.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "sim/studies/score.h"
#include "sim/studies/validate.h"

namespace foretrain::cli {

namespace {

// Every key that the result will have, without a prediction: a misspelt bar is found before the work begins.
Json names_of_scores(const sim::FamilyCorpus& corpus) {
  sim::Validation none;
  none.declined = corpus.declined;
  for (const auto& family : corpus.families) none.declined.push_back({family.id, family.group, family.kind, ""});
  sim::studies::fill_scores(none);
  return reports::scores_by_name_json(none);
}

// A lost family says nothing about the forecast, and without it the scores are of something else.
ExitCode report_lost(const sim::Validation& validation, ExitCode otherwise) {
  if (validation.lost == 0) return otherwise;
  fmt::print(stderr,
             "foretrain: {} famil{} lost: the result lists how their workers ended; fewer --workers need less memory\n",
             validation.lost, validation.lost == 1 ? "y was" : "ies were");
  return ExitCode::failed;
}

}  // namespace

ExitCode validate(const Arguments& arguments) {
  check_requirements(arguments.require);
  check_outputs(arguments);
  std::vector<std::string> bars;
  if (!arguments.gate.empty()) bars = gate_requirements(read_file(arguments.gate), printable(arguments.gate));
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};
  const MeasuredInput measured = read_measured_input(arguments, catalogue);
  static_cast<void>(unmet_requirements(bars, names_of_scores(measured.corpus), printable(arguments.gate)));

  Input input;
  input.digest = measured.digest;
  reports::ValidateResult result;
  result.head = head_of(arguments, input, catalogue);
  {
    CountedProgress progress("families", !arguments.quiet);
    sim::studies::ValidateOptions options;
    options.workers = arguments.workers;
    options.progress = [&](std::size_t done, std::size_t all) { progress.update(done, all); };
    result.validation = sim::studies::validate(measured.corpus, catalogue, options);
  }

  const Json json = reports::result_json(result);
  std::vector<std::string> unmet = unmet_requirements(arguments.require, json);
  for (const std::string& bar :
       unmet_requirements(bars, reports::scores_by_name_json(result.validation), printable(arguments.gate))) {
    unmet.push_back(bar);
  }
  if (!arguments.track_record.empty()) {
    write_file(arguments.track_record, reports::json_text(reports::track_record_json(result)));
  }
  deliver(arguments, {[&] { return reports::validate_text(result, stdout_style(arguments.colour)); },
                      [&] { return reports::json_text(json); }, [&] { return reports::csv(result); },
                      [&] { return reports::markdown(result); }});
  return report_lost(result.validation, report_gate(unmet));
}

}  // namespace foretrain::cli
