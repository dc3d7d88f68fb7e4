// Memory: what one GPU holds during a step, by category, and whether it fits.
//
// The closed form and the activities' allocations follow from the same two numbers per operator, so that the
// peak of a replayed timeline equals the total here.
#pragma once

#include <string>

#include "base/data.h"
#include "base/quantity.h"
#include "base/units.h"
#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim {

struct MemoryParts {
  Bytes parameters;  // fp32 weights, and their two-byte copies under mixed precision
  Bytes gradients;
  Bytes optimizer;    // state
  Bytes activations;  // kept from forward to backward
  Bytes logits;       // what the loss keeps of them, beside the activations
  Bytes buckets;      // of a distributed reducer
  Bytes workspace;    // gradients of activations at the peak, and what the allocator cannot use
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

// Closed form for data parallelism over `ranks`, with what the scenario's way of sharing gradients holds;
// activations are those of one micro-batch (the model's).
[[nodiscard]] MemoryParts data_parallel_memory(const models::Model& model, const Scenario& scenario,
                                               const calibrate::Stack& stack, int ranks);
// The part of it that is held through the whole step, allocator losses included.
[[nodiscard]] double resident_bytes(const MemoryParts& parts, const calibrate::Stack& stack);

// Bytes of optimizer state per parameter: sgd 4 (momentum), adam, adamw and lamb 8 (two fp32 moments).
// Throws Error for another name.
[[nodiscard]] double optimizer_state_bytes(const std::string& optimizer);

// What to change when `parts` do not fit into `capacity`: the largest micro-batch that does, or else the category
// that is too large by itself.
[[nodiscard]] std::string memory_advice(const MemoryParts& parts, Bytes capacity, const Scenario& scenario,
                                        const calibrate::Stack& stack, bool distributed, const DataStore& data);

}  // namespace foretrain::sim
