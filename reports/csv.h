// CSV: pure data for spreadsheets and scripts: a header line, SI numbers that read back exactly, an empty
// cell for what is not known.
#pragma once

#include <string>

#include "reports/result.h"

namespace foretrain::reports {

// One line per quantity: quantity, value, low, high, unit, provenance.
[[nodiscard]] std::string csv(const PredictResult& result);
// One line per term: term, group, seconds, formula, provenance, source.
[[nodiscard]] std::string terms_csv(const PredictResult& result);
// One line per option, the base first; units in the column names.
[[nodiscard]] std::string csv(const DecideResult& result);

// One line per point, with its baselines; then one per declined family, with the reason.
[[nodiscard]] std::string csv(const ValidateResult& result);

}  // namespace foretrain::reports
