// Memory: what one GPU holds during a step, by category, and whether it fits.
#pragma once

#include <string>

#include "base/quantity.h"
#include "base/units.h"
#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim {

struct MemoryParts {
  Bytes parameters, gradients, optimizer, activations, buckets, workspace, framework;
  [[nodiscard]] Bytes total() const;
};

// Closed form for plain data parallelism; activations are those of one micro-batch (the model's).
[[nodiscard]] MemoryParts data_parallel_memory(const models::Model& model, const Training& training,
                                               const calibrate::Stack& stack, bool distributed);

// Bytes of optimizer state per parameter: sgd 4 (momentum), adam, adamw and lamb 8 (two fp32 moments).
[[nodiscard]] double optimizer_state_bytes(const std::string& optimizer);

}  // namespace foretrain::sim
