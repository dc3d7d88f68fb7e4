// Baselines: what somebody without a model of the machine would predict.
#pragma once

#include <vector>

#include "sim/validation.h"

namespace foretrain::sim::studies {

// Fills the baselines of every point:
//   linear               speedup = ratio of the GPU counts
//   constant_efficiency  speedup = ratio · e^log2(ratio), with the e that minimises the mean absolute relative error
//                        over the points of all other families (to about 1e-5); NaN when there are none
void fill_baselines(std::vector<ValidatedPoint>& points);

}  // namespace foretrain::sim::studies
