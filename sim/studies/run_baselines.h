// Run baselines: what somebody without a model of the machine would predict of runs of language models.
#pragma once

#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// The u > 0 that minimises the mean of |ideal / u / measured − 1|, exactly; NaN without runs.
[[nodiscard]] double best_utilisation(const std::vector<double>& ideal, const std::vector<double>& measured);

// Fills the baselines of every run: FLOPs by Megatron's formula at the devices' peak over one constant utilisation,
//   utilisation_of_group             fitted to the run's own group: it has seen the answers
//   utilisation_and_bubble_of_group  the same, times one plus the bubble of 1F1B
//   utilisation_of_others            fitted to all other groups; NaN when there are none
void fill_baselines(std::vector<ValidatedRun>& runs);

inline constexpr const char* fair_baseline = "utilisation_of_others";

}  // namespace foretrain::sim::studies
