// Anchor: a measured step replaces what the catalogue believes about kernels and launches.
//
// The factor on compute and host time is solved so that the predicted step of the measured run equals the
// measurement. Time then rests on that one parameter. The factor is carried over to other micro-batches, precisions
// and kinds of GPU: the errors that both steps share cancel, those that they do not share are the parameter's spread.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/scenario.h"
#include "sim/studies/measured_run.h"
#include "sim/studies/run.h"

namespace foretrain::sim::studies {

// The anchor for `scenario` from the nearest measured step of `original`, the scenario in which they were measured
// (a decision's base; usually `scenario` itself); neutral when there are none. Throws Error when a measured step
// cannot be true beside the rest of the scenario.
[[nodiscard]] Anchor find_anchor(const Scenario& scenario, const Scenario& original,
                                 const calibrate::Catalogue& catalogue);

// The same in two steps, for many scenarios that one measured run anchors: solved once, carried to each.
struct SolvedAnchor {
  MeasuredRun run;
  double compute_scale = 1.0;
};
[[nodiscard]] SolvedAnchor solve_anchor(const MeasuredRun& run, const calibrate::Catalogue& catalogue);
[[nodiscard]] Anchor anchor_for(const Scenario& scenario, const SolvedAnchor& solved,
                                const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
