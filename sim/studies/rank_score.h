// Rank score: whether alternatives come in the right order, and what following the prediction costs.
#pragma once

#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// Kendall's τ-b of two lists of equal length: pairs in the same order less pairs in opposite order, over the geometric
// mean of the pairs that are not tied in either; NaN where all of one list are tied.
[[nodiscard]] double kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b);

// Measured time of what is predicted fastest, over the fastest measured one, minus 1; several that are predicted
// equally fast count with their mean.
[[nodiscard]] double regret(const std::vector<double>& measured, const std::vector<double>& predicted);

// Over the sets of these runs that have at least three different configurations; means over sets.
[[nodiscard]] RankScore rank_score(const std::vector<const ValidatedRun*>& runs);

}  // namespace foretrain::sim::studies
