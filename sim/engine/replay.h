// Replay: runs a job on SimGrid and returns its timeline.
//
// SimGrid is the clock and the max-min fluid network; programs, streams and collectives are ours.
// Activities are created when ready; compute, host work and latencies are timers, communication is flows
// over zero-latency links (a flow alone on its links is a timer too: sim/engine/simulation.h). One process
// may replay any number of jobs, one at a time (SimGrid is not thread-safe); every timeline starts at zero
// and does not depend, to the last bit, on replays before it.
#pragma once

#include "base/parameter.h"
#include "sim/collective_planner.h"
#include "sim/engine/lone_flows.h"
#include "sim/job.h"
#include "sim/timeline.h"

namespace foretrain::sim::engine {

enum class Fidelity {
  analytic,  // a collective is one event of its contention-free time
  fluid,     // latency, then one flow per hop, sharing links max-min (the default)
  steps,     // every step as a latency and flows of its own, one step after another (tests)
};

struct ReplayOptions {
  Fidelity fidelity = Fidelity::fluid;
  const Draw* draw = nullptr;  // multipliers of time per parameter; none = all 1
  LoneFlows lone_flows = LoneFlows::as_timers;  // the other way gives the same results, for tests
};

// Throws Error (ExitCode::failed) naming ranks, classes, calls and communicators when the job contradicts
// itself (a communicator without a group, members that call different operations together) and, afterwards,
// who waits for whom when it never ends (ranks that do not meet in a collective).
[[nodiscard]] Timeline replay(const Job& job, const CollectivePlanner& planner, const ReplayOptions& options = {});

}  // namespace foretrain::sim::engine
