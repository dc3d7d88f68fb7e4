// Tensor split: a model's layers as one tensor-parallel rank has them, with the collectives between the ranks.
//
// Per transformer layer and direction two all-reduces of tokens × hidden (Shoeybi et al. 2019, arXiv:1909.08053, figure
// 4); with sequence parallelism as many all-gathers and reduce-scatters, and two more all-gathers on the way back,
// since inputs of products are kept in parts (Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.2). A vocabulary
// in parts costs one more collective after the lookup, one at the head's input, and three of a number per token in the
// loss.
#pragma once

#include "models/model.h"
#include "models/precision.h"
#include "sim/scenario.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

// One rank's part of every layer (with plan.tensor 1: all of it). Throws Error when the model has nothing that can be
// split, when heads, features or (sequence parallelism) tokens do not divide, and for sequence parallelism of one rank.
[[nodiscard]] LocalModel tensor_split(const models::Model& model, const Plan& plan, models::Precision precision);

}  // namespace foretrain::sim::strategies
