// Validate run tables: what text and Markdown say of predicted training runs, in the same words and numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/table.h"
#include "sim/validation.h"

namespace foretrain::reports {

// Whether runs were given at all, and families.
[[nodiscard]] bool has_runs(const sim::Validation& validation);
[[nodiscard]] bool has_families(const sim::Validation& validation);

// "Median error of a step 8.1 %, mean 12.3 %, skill 0.42; 90 % intervals cover 81 %." or that nothing was predicted.
[[nodiscard]] std::string runs_verdict(const sim::RunValidation& validation);
// "403 of 663 runs predicted: bias −1.2 %, 58 % within 10 %. Of 450 complete runs … 403 (90 %) are simulated."
[[nodiscard]] std::string runs_scope(const sim::RunValidation& validation);

// "Mean of the errors of 15 sources 17.8 %; …better than …": every source counted alike; empty without one.
[[nodiscard]] std::string runs_comparison(const sim::RunValidation& validation);

// One row per score: runs, median and mean error, bias, share within 10 %, coverage and median width of the 90 %
// intervals, skill.
[[nodiscard]] Table run_accuracy_table(const std::string& what, const std::vector<sim::RunScore>& scores);
// Of the scores with sets of alternatives: how many, rank correlation, regret.
[[nodiscard]] Table ranking_table(const std::string& what, const std::vector<sim::RunScore>& scores);
// Median and mean errors of the baselines beside those of the predictions, and the skill over the one that has not
// seen the group.
[[nodiscard]] Table run_baseline_table(const std::string& what, const std::vector<sim::RunScore>& scores);
// The runs that are most wrong, by |error|, the worst first; with the longest part of the step beside computing.
[[nodiscard]] Table worst_runs_table(const std::vector<sim::ValidatedRun>& runs, std::size_t most);
// Every predicted run of one source, by id, with the longest part of the step beside computing.
[[nodiscard]] Table all_runs_table(const std::vector<sim::ValidatedRun>& runs, const std::string& source);
// How many runs were declined for which reason, the most frequent first.
[[nodiscard]] Table declined_runs_table(const sim::RunValidation& validation);

// One entry per baseline of runs, in the words of the tables.
[[nodiscard]] std::string run_baselines_legend();

}  // namespace foretrain::reports
