// Tensor part: what a tensor-parallel rank has of one operator (models::TensorSplit).
//
// As Megatron-LM deals them out: Shoeybi et al. 2019, arXiv:1909.08053, section 3; with sequence parallelism
// Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.
#pragma once

#include <cstdint>

#include "models/operator.h"

namespace foretrain::sim::strategies {

struct TensorRanks {
  std::int64_t count = 1;
  // What every rank would otherwise do and keep whole, it does and keeps for its part of the tokens.
  bool sequence_parallel = false;
};

// Key-value heads of an attention core; AttentionShape has 0 where there are as many as heads.
[[nodiscard]] std::int64_t key_value_heads(const models::AttentionShape& core);

// One rank's part of `op`: shapes, parameters, elements saved and put out. `core`: the attention core that a `columns`
// or `heads` operator works for, null where there is none. Grouped key-value heads are copied when there are fewer of
// them than ranks. Throws Error for heads, features or tokens that do not divide.
[[nodiscard]] models::Operator tensor_part(const models::Operator& op, TensorRanks ranks,
                                           const models::AttentionShape* core);

}  // namespace foretrain::sim::strategies
