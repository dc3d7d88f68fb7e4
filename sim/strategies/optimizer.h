// Optimizer: the update of all parameters at the end of a step.
#pragma once

#include <string>
#include <vector>

#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

// How an optimizer's update passes over memory, counted from its formula: fp32 words read plus written per
// parameter, and kernels (each over all tensors at once).
struct OptimizerPasses {
  double words = 0;
  double kernels = 0;
};
// One fused kernel touches every word once; otherwise PyTorch's `foreach` form runs one kernel per arithmetic
// operation of the formula. Throws Error for an unknown optimizer.
[[nodiscard]] OptimizerPasses optimizer_passes(const std::string& optimizer, bool fused);

// Kernel launches of one `foreach` operation over `tensors` tensors with `elements` elements together: a launch
// takes a limited number of tensors and of chunks (ATen/native/cuda/MultiTensorApply.cuh).
[[nodiscard]] double foreach_launches(double tensors, double elements);

// Writes the update, which waits for `gradients`. With fp16 it is preceded by unscaling, and the host reads the
// overflow flag before it goes on (torch/amp/grad_scaler.py, GradScaler.step). Returns the update.
ActivityIndex write_optimizer(StepWriter& writer, const std::vector<ActivityIndex>& gradients);

}  // namespace foretrain::sim::strategies
