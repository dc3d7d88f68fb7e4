// Batch plan: how the batch of a published step is cut into micro-batches on each number of GPUs.
//
// Sources give what one optimizer step trains, accumulation included. A batch that does not fit into a GPU is taken
// as accumulated, in the fewest equal micro-batches that fit. Where a constant global batch does not fit on the
// smallest count, the recipe accumulates, and the micro-batch is the same on every count.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "scenarios/corpus/family_row.h"

namespace foretrain::scenarios {

struct StepBatch {
  std::int64_t gpus = 1;  // that train: those beyond a global batch stand idle
  std::int64_t micro = 1, accumulation = 1;
  double samples = 1;  // of a step as published; micro · accumulation · gpus where that divides
  [[nodiscard]] std::int64_t global() const { return micro * accumulation * gpus; }
};

// What a GPU holds, of samples in one pass.
struct GpuMemory {
  std::function<bool(std::int64_t)> may_hold;  // estimates err: a published batch is not doubted lightly
  std::function<std::int64_t(std::int64_t)> largest_that_fits;  // up to the given one, by the estimate; 0 = none does
};

// One entry for each count of GPUs, none at all where not one sample fits; `batch` in samples, of one GPU under
// BatchRule::per_gpu.
[[nodiscard]] std::vector<StepBatch> plan_batches(BatchRule rule, std::int64_t batch,
                                                  const std::vector<std::int64_t>& gpus, const GpuMemory& memory);

}  // namespace foretrain::scenarios
