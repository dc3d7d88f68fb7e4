// Breakdown: where the time of a step goes, as parts that sum to the step.
//
// Every instant of the step of one rank is given to the first that applies: a kernel runs (forward,
// backward, recompute, optimizer, compression or other; what stands for many is dealt to its parts, collectives and
// launches among them; what jitter stretched kernels by is straggler wait), a collective moves data
// (exposed communication, by kind), the rank waits in a collective for others (straggler wait), the input
// pipeline runs (input stall), the host launches (launch), nothing (idle: a pipeline's bubble; a receiver
// that waits for its sender is idle too).
#pragma once

#include <map>
#include <string>

#include "sim/job.h"
#include "sim/timeline.h"

namespace foretrain::sim {

// Keys: "forward", "backward", "recompute", "optimizer", "compression", "other", "exposed_all_reduce" (and so on by
// kind), "straggler_wait", "input_stall", "launch", "pipeline_bubble"; seconds. Absent = zero.
[[nodiscard]] std::map<std::string, double> breakdown(const Job& job, const Timeline& timeline, std::uint32_t instance);

// The key under which such a part counts.
[[nodiscard]] std::string breakdown_name(const Part& part);

}  // namespace foretrain::sim
