// Calls: every collective that a job makes, by group, with its plan; and how long the job can last at most.
//
// Collected before anything runs, so that what is wrong with a job (a communicator without a group, ranks
// that call different operations together) is said before the simulation starts, and so that equal calls
// on equal groups are planned once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "sim/collective_planner.h"
#include "sim/engine/program_graph.h"
#include "sim/job.h"

namespace foretrain::sim::engine {

struct Call {
  calibrate::CollectiveKind kind = calibrate::CollectiveKind::all_reduce;
  Bytes bytes;
  std::uint32_t plan = 0;  // index into Calls::plans
};

struct Calls {
  std::vector<std::vector<Call>> of_group;  // the k-th call of a group's communicator
  std::vector<CollectivePlan> plans;
  [[nodiscard]] const CollectivePlan& plan(std::uint32_t group, std::uint32_t call) const {
    return plans[of_group[group][call].plan];
  }
};

// `graphs` by program. Throws Error (ExitCode::failed) when the job contradicts itself.
[[nodiscard]] Calls collect_calls(const Job& job, const std::vector<ProgramGraph>& graphs,
                                  const CollectivePlanner& planner);

// Bytes that a flow carries in one execution of its group's plan for an operation of `kind`.
[[nodiscard]] Bytes flow_bytes(const FlowTemplate& flow, const CollectivePlan& plan, calibrate::CollectiveKind kind);

// A time that no replay of the job exceeds: all activities, latencies and links' work one after another.
// (At every instant a timer runs, or some link that a flow waits for is full.) Throws Error when that is infinite.
[[nodiscard]] Seconds longest_step(const Job& job, const Calls& calls, const Draw* draw);

}  // namespace foretrain::sim::engine
