// Contention: what a group of a communicator reaches while all of its groups do the same.
#pragma once

#include <cstddef>

#include "sim/collective_planner.h"
#include "sim/placement.h"
#include "sim/topology.h"

namespace foretrain::sim {

// The shape of group `group` of `communicator` with the rates that are left of its links when all groups with ranks in
// its nodes run the same operation at once, as tensor-parallel groups of equal ranks do.
[[nodiscard]] GroupShape contended_shape(const Communicator& communicator, std::size_t group, const Topology& topology);

}  // namespace foretrain::sim
