// LLM runs: published training runs of language models (CSV), turned into scenarios.
//
// The columns are those of llm_runs.csv (docs/data.md). Free text – model, node, network, software, number format – is
// mapped by the tables in scenarios/corpus/llm_*.json, first match first; what they do not know is declined with a
// reason that names the class. No measured value becomes part of a scenario.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "sim/llm_run.h"

namespace foretrain::scenarios {

// Throws Error for a text that is not such a table: a column missing, a number that is none, an id that is there twice.
[[nodiscard]] sim::RunCorpus read_llm_runs(const std::string& csv, const std::string& where,
                                           const calibrate::Catalogue& catalogue);

}  // namespace foretrain::scenarios
