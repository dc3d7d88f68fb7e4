// Known work: FLOPs of a model that was stated without them, from a measured step.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::sim::studies {

// `scenario` with a model of totals whose FLOPs are filled in: as many as make the step of `original`'s nearest
// measured run (on the device's calibration) last as long as it was measured. Other models come back unchanged.
// Throws Error when neither FLOPs nor a measured step are stated.
[[nodiscard]] Scenario with_known_work(const Scenario& scenario, const Scenario& original,
                                       const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
