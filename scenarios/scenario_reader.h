// Scenario reader: one document to one scenario, by the field table, and whether what it says can be.
#pragma once

#include <vector>

#include "calibrate/catalogue.h"
#include "scenarios/document.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// Throws Error for keys that no row of the field table has, in any section.
void check_keys(const Document& document);

// All values but the model and the measured steps, each checked for type and range; what the document does not
// say has its default. With `complete`, a missing required key is an Error.
[[nodiscard]] sim::Scenario read_values(const Document& document, bool complete);

// The measured steps; `own` is the scenario as its file has it, whose machine and micro-batch a step is of
// unless it says otherwise.
[[nodiscard]] std::vector<sim::Measured> read_measured(const Document& document, const sim::Scenario& own);

// Throws Error for names that the catalogue does not have and for values that contradict each other.
// (Batches: check_batches.)
void check_scenario(const Document& document, const sim::Scenario& scenario, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::scenarios
