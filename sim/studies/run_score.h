// Run score: errors and ranking of predicted runs of language models, by group and class of GPU.
#pragma once

#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// Fills groups, gpu_classes, overall and the counts of complete runs of a validation whose runs (with their baselines)
// and declined runs are complete.
void fill_scores(RunValidation& validation);

// Of the scores of groups.
[[nodiscard]] GroupComparison compare_groups(const std::vector<RunScore>& groups);

// Families and runs together, without baselines: they have none in common.
[[nodiscard]] GroupScore pooled_score(const Validation& validation);

// The score of some runs; rows counts those predicted.
[[nodiscard]] RunScore score_of(const std::vector<const ValidatedRun*>& runs);

}  // namespace foretrain::sim::studies
