// Memory: what one GPU holds during a step, by category, and what one operator holds of it.
//
// Closed forms of whole plans are in sim/strategies/plan_memory.h.
#pragma once

#include <string>

#include "base/units.h"
#include "calibrate/stack.h"
#include "models/operator.h"
#include "models/precision.h"

namespace foretrain::sim {

struct MemoryParts {
  Bytes parameters;  // weights, their two-byte copies under autocast, units that are gathered
  Bytes gradients;
  Bytes optimizer;    // state, and the main copy of two-byte weights
  Bytes activations;  // kept from forward to backward
  Bytes logits;       // what the loss keeps of them, beside the activations
  Bytes buckets;      // of a reducer, and whole gradients on their way to their parts
  Bytes workspace;    // what is recomputed and gradients of activations at the peak, and what the allocator cannot use
  Bytes framework;    // context, libraries
  [[nodiscard]] Bytes total() const;
};

// What one operator holds while a step runs, allocator losses included.
struct DynamicBytes {
  double saved = 0;           // from its forward to the end of its backward
  double input_gradient = 0;  // from its backward to the end of the backward before it; `before` null = none
  bool has_backward = true;   // else `saved` is kept until the next backward is done
};
[[nodiscard]] DynamicBytes dynamic_bytes(const models::Operator& op, const models::Operator* before,
                                         models::Precision precision, const calibrate::Stack& stack);

// How much more the allocator takes than what is asked for.
[[nodiscard]] double allocator_factor(const calibrate::Stack& stack);

// The part that is held through the whole step, allocator losses included.
[[nodiscard]] double resident_bytes(const MemoryParts& parts, const calibrate::Stack& stack);

// Bytes of optimizer state per parameter: sgd 4 (momentum), adam, adamw and lamb 8 (two fp32 moments).
// Throws Error for another name.
[[nodiscard]] double optimizer_state_bytes(const std::string& optimizer);

}  // namespace foretrain::sim
