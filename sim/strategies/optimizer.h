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

// Writes the update, which waits for `gradients`, of the share of this rank's parameters that it holds the state of.
// Passes over memory, each as the stack and the precision ask for it:
//   gradients into the main ones       weights kept in two bytes, and gradients in less than four
//   unscaling, which the host waits for: fp16 (torch/amp/grad_scaler.py, GradScaler.step)
//   the norm, its sum over the ranks that have other gradients, and scaling by it (torch/nn/utils/clip_grad.py
//                                      multiplies without asking; Megatron-LM spares it below the limit): `gradient_norm`
//   the update of main parameters      always
//   main parameters into the weights   weights kept in two bytes, unless parts of them are cast for each gather
// As Megatron-LM's Float16OptimizerWithFloat16Params.step does one after the other
// (megatron/core/optimizer/optimizer.py); pipeline stages are not waited for. Returns what comes last.
ActivityIndex write_optimizer(StepWriter& writer, const std::vector<ActivityIndex>& gradients, double updated_share = 1);

}  // namespace foretrain::sim::strategies
