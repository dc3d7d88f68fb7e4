// Folded and unfolded replays of one job, compared activity by activity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "sim/fold.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"
#include "tests/sim/test_network.h"

namespace foretrain::sim::engine {

// Replays both ways, compares every activity of every representative, and returns how many there are.
inline std::size_t check_fold(const std::vector<Program>& programs, const Placement& placement, TestNetwork& network) {
  const Topology topology = network.topology();
  const CollectiveCosts costs = network.costs(topology);
  const Job every_rank = expand(programs, placement, topology);
  const Job folded = fold(programs, placement, topology);
  const Timeline full = replay(every_rank, costs), small = replay(folded, costs);
  const double tolerance = 1e-9 * full.step_seconds;
  CHECK(full.step_seconds > 0);
  CHECK(small.step_seconds == Approx(full.step_seconds).epsilon(1e-9));
  double worst = 0;
  for (std::uint32_t i = 0; i < folded.instances.size(); ++i) {
    const auto rank = static_cast<std::size_t>(folded.instances[i].rank);
    for (ActivityIndex a = 0; a < programs[folded.instances[i].program].activities.size(); ++a) {
      worst = std::max({worst, std::abs(span(small, i, a).start - span(full, rank, a).start),
                        std::abs(span(small, i, a).finish - span(full, rank, a).finish)});
    }
  }
  CHECK(worst <= tolerance);
  return folded.instances.size();
}

}  // namespace foretrain::sim::engine
