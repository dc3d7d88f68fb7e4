// Speech recognition by convolutions over time: Jasper (Li et al. 2019, arXiv:1904.03288) and QuartzNet (Kriman et
// al. 2019, arXiv:1910.10261).
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// A prologue that halves the frames, blocks of `repeats` convolutions with residual connections, an epilogue of two,
// a classifier of characters, CTC loss. Sizes: frames (of an utterance), features (per frame), symbols (without the
// blank), target_length; prologue_channels, prologue_kernel; lists with one number per block: block_channels,
// block_kernel; repeats; epilogue_channels, epilogue_kernel (dilated by two), last_channels; separable (0/1:
// depthwise, then 1×1), dense_residual (0/1: a block adds the inputs of all blocks so far, not only its own),
// dropout (0/1).
void build_jasper(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
