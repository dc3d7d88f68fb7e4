// CollectiveRun: one execution of a collective on a group, from the first arrival to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/program.h"

namespace foretrain::sim::engine {

struct ActivityOfRank {
  std::uint32_t instance = 0;
  ActivityIndex activity = 0;
};

struct CollectiveRun {
  std::uint32_t group = 0;
  std::uint32_t call = 0;  // which call on the group
  std::size_t first_arrival = 0;  // in a list of all runs' arrivals, which has room for every member of the group
  std::uint32_t arrived = 0;      // members, so far
  int steps_left = 1;
  std::uint32_t flows_left = 0;
  std::optional<std::uint32_t> last_flow;  // that ended
};

}  // namespace foretrain::sim::engine
