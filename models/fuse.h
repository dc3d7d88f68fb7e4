// Fused kernels: element-wise passes as hand-fused frameworks (Megatron-LM) or compilers run them.
//
// Builders write what PyTorch launches eagerly. Fusing joins neighbouring element-wise passes of which one reads what
// the other wrote, so that the tensor between them is neither written nor read, and runs operators that stand for
// several element-wise kernels (rotary positions, SwiGLU) as one that reads its inputs and writes its output once.
// Parameters, products and FLOPs stay; masks and whatever else backward needs is still written and kept.
#pragma once

#include "models/model.h"

namespace foretrain::models {

// What becomes of a layer's operators:
//  * a pass that follows a pass of the same layer and of the same part of the tensors (tensor_split), reads all that
//    this one put out, and has no parameters, joins it. The tensor between them is still written when either keeps a
//    tensor of its size for backward. On the way back a pass over one tensor joins as well; the gradient of a sum
//    passes through as it is, so there nothing falls away;
//  * rotary positions and SwiGLU become one kernel each way; SwiGLU keeps its two inputs only;
//  * softmax and loss over a vocabulary become what Megatron-LM's vocab_parallel_cross_entropy does with fp16 logits:
//    a copy in four bytes, its largest, their difference, exponentials, sums, quotients; back a product and a copy
//    in two bytes (megatron/core/tensor_parallel/cross_entropy.py). That moves more than PyTorch's fused softmax, but
//    works on parts of the vocabulary.
[[nodiscard]] Model with_fused_kernels(Model model);

}  // namespace foretrain::models
