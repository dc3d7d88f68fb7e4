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

namespace foretrain::sim::studies {

// "tensor and pipeline parallel", "sharded", …
[[nodiscard]] std::string kind_of_plan(const calibrate::RunTraits& traits);

// Nothing where no run of that family and kind of plan was measured.
[[nodiscard]] std::optional<calibrate::RunRecord> nearest_runs(const std::vector<calibrate::PredictedRun>& all,
                                                               const calibrate::RunTraits& traits);

}  // namespace foretrain::sim::studies
