// CollectiveRun: one execution of a collective on a group, from the first arrival to the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/program.h"

namespace foretrain::sim::engine {

struct ActivityOfRank {
  std::uint32_t instance = 0;
  ActivityIndex activity = 0;
};

struct CollectiveRun {
  std::uint32_t group = 0;
  std::uint32_t call = 0;  // which call on the group
  std::vector<ActivityOfRank> arrived;
  int steps_left = 1;
  std::uint32_t flows_left = 0;
  std::optional<std::uint32_t> last_flow;  // that ended
};

}  // namespace foretrain::sim::engine
