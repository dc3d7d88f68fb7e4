// What to say when a program never ends: which collectives wait, for whom, and what those do instead.
#pragma once

#include <vector>

#include "base/error.h"
#include "sim/engine/collective_run.h"
#include "sim/job.h"

namespace foretrain::sim::engine {

// Names the first few runs that not all members reached. At least one of `runs` must be so: an activity
// waits for earlier ones only, so that nothing but a collective can hold a program up.
[[nodiscard]] Error stuck_error(const Job& job, const std::vector<CollectiveRun>& runs,
                                const std::vector<ActivityOfRank>& arrivals);

}  // namespace foretrain::sim::engine
