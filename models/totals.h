// A model known by its totals only: parameters, FLOPs, layers, activation bytes.
#pragma once

#include "models/model.h"

namespace foretrain::models {

// Equal layers, each one product of that layer's share of parameters and FLOPs. Parameters stand as one
// vector per layer, since their shapes are not known. Without FLOPs the layers compute nothing, and a
// measured step has to say how long they take. Throws Error for totals that cannot be (`where`).
[[nodiscard]] Model build_totals_model(const Totals& totals, const std::string& where, const BatchShape& batch);

}  // namespace foretrain::models
