// Executor: runs rank programs in simulated time and writes down when everything happened.
//
// An activity starts when the one before it on its stream and all that it names have finished. Timed
// activities are timers; while a rank takes part in a running collective (from the last member's arrival
// to the end), its compute streams run at Program::compute_rate_while_communicating: kernels move its data. What is
// exchanged with parameter servers is copied by other engines and slows nothing down. A collective starts
// when its call has been reached on every member of the group; its flows are sent when its latency has passed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/calls.h"
#include "sim/engine/collective_run.h"
#include "sim/engine/group_network.h"
#include "sim/engine/program_graph.h"
#include "sim/engine/replay.h"
#include "sim/engine/simulation.h"
#include "sim/mixture.h"

namespace foretrain::sim::engine {

class Executor final : private SessionListener {
 public:
  Executor(const Job& job, const std::vector<ProgramGraph>& graphs, const Calls& calls, const ReplayOptions& options);

  // Once. Throws Error (ExitCode::failed) when some activity never finished.
  [[nodiscard]] Timeline run();

 private:
  // A kernel whose rate may change while it runs.
  struct Kernel {
    ActivityIndex activity = 0;
    double remaining = 0;  // seconds at full rate, at `since`
    double since = 0;
    EventHandle timer;
  };
  struct RankState {
    int communicating = 0;  // collectives in progress
    std::vector<Kernel> kernels;
  };

  void on_timer(Token token, double at) override;
  void on_flow_end(Token token, double at) override;

  void start(ActivityOfRank which, SpanIndex released_by);
  void start_timed(ActivityOfRank which, const Activity& activity);
  void start_kernel(ActivityOfRank which, double seconds);
  void end_timed(ActivityOfRank which);
  void finish(ActivityOfRank which);
  void release_waiting();

  [[nodiscard]] double rate(std::uint32_t instance) const;
  void set_communicating(std::uint32_t instance, int change);

  void arrive(ActivityOfRank which, std::uint32_t group);
  void start_collective(std::uint32_t run);
  void start_step(std::uint32_t run);
  void end_step(std::uint32_t run);
  void end_collective(std::uint32_t run);
  [[nodiscard]] const CollectivePlan& plan(std::uint32_t run) const;
  [[nodiscard]] calibrate::CollectiveKind kind(std::uint32_t run) const;

  [[nodiscard]] const Program& program(std::uint32_t instance) const {
    return job_.programs[job_.instances[instance].program];
  }
  [[nodiscard]] Span& span(ActivityOfRank which) {
    return timeline_.spans[timeline_.first_of[which.instance] + which.activity];
  }

  const Job& job_;
  const std::vector<ProgramGraph>& graphs_;
  const Calls& calls_;
  const Draw* draw_;
  ActivityTimes times_;
  Fidelity fidelity_;
  Simulation simulation_;
  GroupNetwork network_;

  double now_ = 0;
  Timeline timeline_;
  std::vector<std::uint32_t> waits_;  // by span: finishes still to come before it starts
  std::vector<RankState> ranks_;      // by instance
  std::vector<CollectiveRun> runs_;
  std::vector<ActivityOfRank> arrivals_;  // of all calls, as many as members
  struct FirstCall {
    std::size_t call = 0, arrival = 0;
  };
  std::vector<FirstCall> first_call_;        // by group: where its calls and their arrivals begin
  std::vector<std::uint32_t> run_of_call_;   // by call: index into runs_
  std::vector<ActivityOfRank> finished_;     // whose dependents are not released yet
  std::uint64_t finished_count_ = 0;
};

}  // namespace foretrain::sim::engine
