// Inception v3 (Szegedy et al. 2015, arXiv:1512.00567), layers and names as in torchvision.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Sizes: image (at least 75), channels, classes, auxiliary (0/1: the second classifier, which training uses), dropout
// (0/1).
void build_inception_v3(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
