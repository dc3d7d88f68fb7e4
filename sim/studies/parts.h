// Parts: what one step is made of, in words and numbers: breakdown, binding, memory, warnings.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/prediction.h"
#include "sim/studies/replayed.h"

namespace foretrain::sim::studies {

// The parts of the step, each with the interval that its own activities' parameters give it.
[[nodiscard]] std::vector<NamedQuantity> breakdown_quantities(const Replayed& replayed, const Quantity& step_time);

// Fills bottleneck and binding.
void fill_binding(Prediction& prediction, const Replayed& replayed);

[[nodiscard]] GradientExchange gradient_exchange(const Replayed& replayed);
[[nodiscard]] MemoryAnswer memory_answer(const Run& run, const DataStore& data);

// Fills warnings and `extrapolating`.
void fill_warnings(Prediction& prediction, const Replayed& replayed);

}  // namespace foretrain::sim::studies
