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
#include "sim/studies/run_score.h"
#include "sim/studies/score.h"
#include "sim/studies/validate.h"
#include "sim/studies/validate_runs.h"

namespace foretrain::cli {

namespace {

// Every key that the result will have, without a prediction: a misspelt bar is found before the work begins.
Json names_of_scores(const MeasuredInput& measured) {
  sim::Validation none;
  none.declined = measured.families.declined;
  for (const auto& family : measured.families.families) {
    none.declined.push_back({family.id, family.group, family.kind, ""});
  }
  sim::studies::fill_scores(none);
  none.runs.declined = measured.runs.declined;
  for (const auto& run : measured.runs.runs) none.runs.declined.push_back({run.label, ""});
  sim::studies::fill_scores(none.runs);
  none.pooled = sim::studies::pooled_score(none);
  return reports::scores_by_name_json(none);
}

sim::Validation validated(const MeasuredInput& measured, const calibrate::Catalogue& catalogue,
                          const Arguments& arguments) {
  sim::Validation validation;
  const auto watched = [&](const char* what, const auto& work) {
    CountedProgress progress(what, !arguments.quiet);
    sim::studies::ValidateOptions options;
    options.workers = arguments.workers;
    options.progress = [&](std::size_t done, std::size_t all) { progress.update(done, all); };
    work(options);
  };
  if (measured.has_families) {
    watched("families", [&](const sim::studies::ValidateOptions& options) {
      validation = sim::studies::validate(measured.families, catalogue, options);
    });
  }
  if (measured.has_runs) {
    watched("runs", [&](const sim::studies::ValidateOptions& options) {
      validation.runs = sim::studies::validate(measured.runs, catalogue, options);
    });
  }
  validation.pooled = sim::studies::pooled_score(validation);
  return validation;
}

// A lost one says nothing about the forecast, and without it the scores are of something else.
bool report_lost(std::int64_t lost, const char* one, const char* several) {
  if (lost == 0) return false;
  fmt::print(stderr,
             "foretrain: {} {} lost: the result lists how their workers ended; fewer --workers need less memory\n",
             lost, lost == 1 ? one : several);
  return true;
}

}  // namespace

ExitCode validate(const Arguments& arguments) {
  check_requirements(arguments.require);
  check_outputs(arguments);
  std::vector<std::string> bars;
  if (!arguments.gate.empty()) bars = gate_requirements(read_file(arguments.gate), printable(arguments.gate));
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};
  const MeasuredInput measured = read_measured_input(arguments, catalogue);
  static_cast<void>(unmet_requirements(bars, names_of_scores(measured), printable(arguments.gate)));

  Input input;
  input.digest = measured.digest;
  reports::ValidateResult result;
  result.head = head_of(arguments, input, catalogue);
  result.validation = validated(measured, catalogue, arguments);

  const Json json = reports::result_json(result);
  std::vector<std::string> unmet = unmet_requirements(arguments.require, json);
  for (const std::string& bar :
       unmet_requirements(bars, reports::scores_by_name_json(result.validation), printable(arguments.gate))) {
    unmet.push_back(bar);
  }
  if (!arguments.track_record.empty()) {
    write_file(arguments.track_record, reports::track_record_text(result));
  }
  if (!arguments.interval_factors.empty()) {
    write_file(arguments.interval_factors, reports::json_text(reports::interval_factors_json(result)));
  }
  deliver(arguments, {[&] { return reports::validate_text(result, stdout_style(arguments.colour)); },
                      [&] { return reports::json_text(json); }, [&] { return reports::csv(result); },
                      [&] { return reports::markdown(result); }});
  const ExitCode gate = report_gate(unmet);
  const bool lost_families = report_lost(result.validation.lost, "family was", "families were");
  const bool lost_runs = report_lost(result.validation.runs.lost, "run was", "runs were");
  return lost_families || lost_runs ? ExitCode::failed : gate;
}

}  // namespace foretrain::cli
