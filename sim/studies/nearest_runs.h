// Nearest runs: the published runs that say most about how well an answer was predicted.
//
// All must train the same family of model by the same kind of plan (whole copies, sharded state, tensor or pipeline
// parallelism, both). Of these, rings are tried from narrow to wide, until one holds at least five runs:
//   the same chip, stack and width of numbers, and within a factor of 4 in GPUs, parameters and tokens per pass,
//   the same within a factor of 32,
//   the same chip and stack,
//   the same stack,
//   the same kind of plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/run_traits.h"
#include "calibrate/track_record.h"
#include "sim/studies/scaling_interval.h"

namespace foretrain::sim::studies {

// "tensor and pipeline parallel", "sharded", …
[[nodiscard]] std::string kind_of_plan(const calibrate::RunTraits& traits);

// Nothing where no run of that family and kind of plan was measured.
[[nodiscard]] std::optional<calibrate::RunRecord> nearest_runs(const std::vector<calibrate::PredictedRun>& all,
                                                               const calibrate::RunTraits& traits);

// What an answer beyond the evidence has to allow for at least: the shortest interval of ln(measured / predicted) that held
// 90 % of its nearest runs (all of few), times √(1 + d / r), where d is how far it lies beyond their most GPUs or
// parameters, and r the range that they span, in logarithms: deviations grow with the distance as those of a random walk.
// Nothing where the answer is not beyond them.
[[nodiscard]] std::optional<StepMargins> margins_beyond(const std::vector<calibrate::PredictedRun>& all,
                                                        const calibrate::RunTraits& traits);

}  // namespace foretrain::sim::studies
