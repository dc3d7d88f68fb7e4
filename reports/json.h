// JSON: the result file that other commands and other programs read.
//
// {"foretrain_result": 1, "command", "version", "input_digest", "profiles", "settings", "scenario", …}.
// Numbers are SI; a quantity is {value, low, high, unit, provenance}, and one that is not known has null
// values and a provenance that says why. Same result, same bytes: no time stamps, no paths.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "reports/result.h"

namespace foretrain::reports {

// Turns a scenario back into its file form; given by the caller, because files are scenarios/'s matter.
using ScenarioWriter = std::function<Json(const sim::Scenario&)>;

// The keys every result begins with; further keys are appended by the command.
[[nodiscard]] Json result_json(const Head& head);

// `prediction {…}` for predict; explain adds `terms[]` where the prediction has any.
[[nodiscard]] Json result_json(const PredictResult& result, const ScenarioWriter& scenario);
// `verdict`, `answer`, `recommended`, `reasons`, `change_first`, `base`, `alternatives[]`.
[[nodiscard]] Json result_json(const DecideResult& result, const ScenarioWriter& scenario);

// `rows[]`, one per predicted point and one per declined family, `groups[]`, `kinds[]` and `overall`; what is not
// known is null.
[[nodiscard]] Json result_json(const ValidateResult& result);

// The scores alone, groups and kinds by name: what the dotted keys of a gate name ("groups.azure.mape").
[[nodiscard]] Json scores_by_name_json(const sim::Validation& validation);
// What answers quote of their own record: {"foretrain_track_record": 1, "kinds": […], "runs": {"columns", "lines"}}, one
// run to a line.
[[nodiscard]] std::string track_record_text(const ValidateResult& result);
// What intervals of runs like the predicted ones are widened by: {"foretrain_interval_factors": 1, "classes": […]}.
[[nodiscard]] Json interval_factors_json(const ValidateResult& result);

[[nodiscard]] Json quantity_json(const Quantity& quantity);

// Indented text with a final line break; the form of every JSON file foretrain writes.
[[nodiscard]] std::string json_text(const Json& json);
[[nodiscard]] std::string json_line(const Json& json);  // without a line break in it or behind it

}  // namespace foretrain::reports
