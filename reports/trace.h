// Trace: a replayed step as a Chrome trace, which Perfetto, chrome://tracing and trace libraries for Kineto read.
//
// One process per rank class of the replay (per rank without folding), one thread per stream. Names of fields and
// categories are those of PyTorch's profiler: "kernel", "cpu_op", "ac2g" arrows from launches to kernels, NCCL kernels
// with "Collective name" and "Process Group Name". An activity that stands for many is an annotation with its parts in
// it, in the order and size they have in it, not where each was. Counters show allocated memory and the rates that
// collectives reach inside and between nodes. Times are µs.
#pragma once

#include <string>
#include <vector>

#include "sim/job.h"
#include "sim/timeline.h"
#include "sim/traffic.h"

namespace foretrain::reports {

// `traffic` by collective of the timeline. The same job and timeline give the same bytes.
[[nodiscard]] std::string trace_json(const sim::Job& job, const sim::Timeline& timeline,
                                     const std::vector<sim::Traffic>& traffic);

}  // namespace foretrain::reports
