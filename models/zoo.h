// The zoo: models by name. An entry (zoo/NAME.json) is a builder's name and its sizes.
#pragma once

#include <map>
#include <string>

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Builds the entry `name` with `overrides` of its sizes. Names are found whatever their case and
// whether their words are joined by "-", "_" or nothing. Throws Error for an unknown name (nearest
// suggested), an unknown or bad override, a bad file of an overlay, a sequence a model does not take.
[[nodiscard]] Model build_zoo_model(const std::string& name, const std::map<std::string, double>& overrides,
                                    const std::string& where, const BatchShape& batch, const DataStore& data);

// Builds the layers of `model`, whose name, batch and source are set, with a zoo builder ("decoder", "encoder", …).
// Throws Error for sizes that cannot be and for a sequence that the builder does not take.
void build_by(const std::string& builder, const Sizes& sizes, Model& model);

}  // namespace foretrain::models
