// Vocabulary: padded so that every tensor-parallel rank has an equal part, of a size that products are fast with.
//
// Megatron-LM pads to a multiple of 128 times the tensor-parallel degree (--make-vocab-size-divisible-by).
#pragma once

#include <cstdint>

#include "models/model.h"

namespace foretrain::sim::strategies {

// Tables, logits and losses over a vocabulary (models::TensorSplit::vocabulary) with it rounded up to `multiple`.
[[nodiscard]] models::Model with_padded_vocabulary(models::Model model, std::int64_t multiple);

}  // namespace foretrain::sim::strategies
