// Batches: how micro-batch, global batch and the number of GPUs fit together.
#pragma once

#include <cstdint>

#include "sim/scenario.h"

namespace foretrain::sim::strategies {

struct Batches {
  std::int64_t data_parallel = 1;  // gpus / (tensor · pipeline · context)
  std::int64_t micro = 1;          // samples per GPU per forward pass
  std::int64_t accumulation = 1;   // micro-batches per optimizer step
  std::int64_t global = 1;         // micro · accumulation · data_parallel
};

// Throws Error, with the nearest valid values, when the global batch is no multiple of
// micro-batch · data-parallel degree. A global batch of 0 means exactly that product.
[[nodiscard]] Batches resolve_batches(const Training& training, const Plan& plan, std::int64_t gpus);

// The same training on another number of GPUs: weak scaling keeps what one GPU does per step, strong
// scaling keeps the global batch. `batches` are those of `training` as it stands.
[[nodiscard]] Training rescaled(const Training& training, const Batches& batches, std::int64_t data_parallel);

}  // namespace foretrain::sim::strategies
