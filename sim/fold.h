// Folding: one representative for every set of ranks that must behave alike.
//
// Ranks, links, groups and flows are coloured and refined until the colouring is equitable: every link
// of a cell is crossed by equally many flows of each flow cell. Max-min rates are then constant on cells
// (research: equitable partitions), so replaying one flow per cell with that multiplicity as its weight is
// exact at every instant. The decision looks at ranks, communicators and links alone, never at the
// programs' contents.
#pragma once

#include "sim/job.h"

namespace foretrain::sim {

[[nodiscard]] Job fold(std::vector<Program> programs, const Placement& placement, const Topology& topology);
[[nodiscard]] Job expand(std::vector<Program> programs, const Placement& placement, const Topology& topology);

}  // namespace foretrain::sim
