// Run traits of a run that is ready: what kind of training it is.
#pragma once

#include "calibrate/run_traits.h"
#include "sim/studies/run.h"

namespace foretrain::sim::studies {

[[nodiscard]] calibrate::RunTraits traits_of(const Run& run);

}  // namespace foretrain::sim::studies
