// Buffers: what sharing gradients holds in GPU memory through the whole step, beside the gradients themselves.
#pragma once

#include "base/units.h"
#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim::strategies {

// Of the scenario's reducer and compression on `ranks` data-parallel ranks; nothing on one.
//   ddp, mirrored, multi_worker_mirrored  fp32 buckets of all gradients, unless gradients lie in them
//   horovod      the fusion buffer, whole
//   local_sgd    one fp32 buffer of all parameters
//   zero1, zero2 the largest bucket, unless gradients lie in them
//   zero3, hsdp  none: units come and go
//   others       none: parameter servers take gradients from where they lie
//   fp16, bf16   a two-byte copy of all gradients
//   powersgd     errors, P and Q, and what travels uncompressed
//   top_k        errors, and what all ranks sent
//   onebit_adam  errors of this rank and of its part, and the signs sent and received
// Buffers of single buckets that come and go (PowerSGD's copy of the gradient) are not counted.
[[nodiscard]] Bytes sharing_buffers(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack,
                                    int ranks);

}  // namespace foretrain::sim::strategies
