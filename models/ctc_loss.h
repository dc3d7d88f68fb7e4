// The loss of connectionist temporal classification (Graves et al. 2006) and the softmax before it.
#pragma once

#include <cstdint>

#include "models/model_writer.h"

namespace foretrain::models {

// Over `steps` time steps per sample, for targets of `target_length` symbols.
void write_ctc_loss(ModelWriter& writer, const Activation& logits, std::int64_t steps, std::int64_t target_length);

}  // namespace foretrain::models
