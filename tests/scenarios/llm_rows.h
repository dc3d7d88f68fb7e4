// Rows of a table of training runs, written by tests: a plain row with some columns changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/llm_run.h"

namespace foretrain::scenarios {

using Columns = std::map<std::string, std::string>;

// GPT 22B of Korthikanti et al. on one DGX A100, tensor-parallel over its eight GPUs, with `changes`.
[[nodiscard]] Columns plain_run(const Columns& changes = {});
// A table of these rows with all columns that are read, and one that is not.
[[nodiscard]] std::string runs_table(const std::vector<Columns>& rows);

// The one run that the plain row with `changes` becomes; fails the test where it is declined.
[[nodiscard]] sim::LlmRun run_of(const Columns& changes);
// The reason for which it is declined; empty where it is not.
[[nodiscard]] std::string run_reason(const Columns& changes);

// The published runs, and what they become.
[[nodiscard]] std::string true_runs_text();
[[nodiscard]] const sim::RunCorpus& true_runs();
[[nodiscard]] const sim::LlmRun& true_run(const std::string& id);

}  // namespace foretrain::scenarios
