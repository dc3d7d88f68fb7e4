// Folding: one representative for every set of ranks that must behave alike.
//
// Ranks, links, groups and flows are coloured and refined until the colouring is equitable: every link
// of a cell is crossed by equally many flows of each flow cell, every group of a cell has equally many
// ranks of each rank cell. Progressive filling then gives all flows of a cell the same rate, whichever
// cells are active, and by induction over events all ranks of a cell do the same at the same time: replaying
// one rank, group and flow per cell, with the number of flows on a link as the flow's weight there, is
// exact at every instant. The decision looks at ranks, communicators and links alone, never at the
// programs' contents; where nothing is alike, nothing is folded.
#pragma once

#include "sim/job.h"

namespace foretrain::sim {

// Every rank an instance, every group with its flows. Throws Error where placement and programs contradict.
[[nodiscard]] Job expand(std::vector<Program> programs, const Placement& placement, const Topology& topology);

[[nodiscard]] Job fold(std::vector<Program> programs, const Placement& placement, const Topology& topology);
// The same of a job in which every instance stands for one rank.
[[nodiscard]] Job fold(Job every_rank);

}  // namespace foretrain::sim
