// Chunk memory: what the passes over one chunk of a local model allocate and free, allocator losses included.
//
// Programs (sim/strategies/chunk.h) and the closed form (sim/strategies/plan_memory.h) take their bytes from here, so
// that a replayed timeline's peak equals the closed form.
#pragma once

#include <vector>

#include "calibrate/stack.h"
#include "models/precision.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

// Of one operator, for one micro-batch.
struct OperatorBytes {
  double saved = 0;           // from its forward pass to the end of its backward pass
  double recomputed = 0;      // from when its forward runs again to the end of its backward pass
  double input_gradient = 0;  // from its backward to the end of the backward pass before it
  // While its backward pass runs: gradients of its weights that come out in two bytes and are added to those kept in
  // more. None under autocast, whose weights and gradients are full.
  double weight_gradient = 0;
  double logits = 0;         // of `saved`, what the loss keeps
  bool has_backward = true;  // else what it keeps lives until the next backward pass is done
  // The last of its segment: before its backward pass all of the segment's operators run forward again.
  bool ends_segment = false;
};
// In forward order, as flat_operators().
[[nodiscard]] std::vector<OperatorBytes> operator_bytes(const LocalModel& chunk, models::Precision precision,
                                                        const calibrate::Stack& stack);

// What a forward pass leaves for the backward pass.
[[nodiscard]] double kept_bytes(const std::vector<OperatorBytes>& operators);
[[nodiscard]] double kept_logits(const std::vector<OperatorBytes>& operators);
// The most that a backward pass holds beyond that: what is recomputed, gradients of activations and of weights.
[[nodiscard]] double backward_peak_bytes(const std::vector<OperatorBytes>& operators);
// The same of a pass that computes gradients of activations only and frees nothing of what was kept, which the pass for
// the weights' still reads.
[[nodiscard]] double input_gradient_peak_bytes(const std::vector<OperatorBytes>& operators);

}  // namespace foretrain::sim::strategies
