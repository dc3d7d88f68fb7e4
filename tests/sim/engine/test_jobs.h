// Small jobs and plans in round numbers, written by hand: no catalogue, no topology.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/replay.h"
#include "sim/job.h"

namespace foretrain::sim::engine {

// Parameters of the test jobs.
inline constexpr ParameterId kernel_parameter{0}, launch_parameter{1}, latency_parameter{2}, link_parameter{3};

inline Duration kernel_time(double seconds) { return {Seconds(seconds), kernel_parameter}; }
inline Duration launch_time(double seconds) { return {Seconds(seconds), launch_parameter}; }

// The ring all-reduce of n ranks on links of B bytes/s, in closed form: 2(n-1) steps of α + S/(n·B).
struct RingPlanner final : CollectivePlanner {
  double alpha = 0;  // seconds of one step
  double bandwidth = 50e9;

  explicit RingPlanner(double alpha_seconds, double bytes_per_s = 50e9)
      : alpha(alpha_seconds), bandwidth(bytes_per_s) {}

  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind, Bytes bytes, const GroupShape& shape) const override {
    CollectivePlan ring;
    ring.steps = 2 * (shape.ranks - 1);
    ring.alpha = {Seconds(ring.steps * alpha), latency_parameter};
    ring.node_bytes = bytes * (static_cast<double>(ring.steps) / shape.ranks);
    ring.alone = {ring.alpha.time + ring.node_bytes / BytesPerSecond(bandwidth), link_parameter};
    return ring;
  }
};

// One byte over the group's flows per byte of the call, at once.
struct PlainPlanner final : CollectivePlanner {
  double alpha = 0;
  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind, Bytes bytes, const GroupShape&) const override {
    CollectivePlan plain;
    plain.alpha = {Seconds(alpha), latency_parameter};
    plain.node_bytes = bytes;
    return plain;
  }
};

// 3 s of kernels, 0.5 s of launches and 1 s of all-gather that stand for many: 4.5 s.
inline Mixture test_mixture() {
  return {{Category::forward, {}, kernel_parameter, 2.0},
          {Category::recompute, {}, kernel_parameter, 1.0},
          {Category::launch, {}, launch_parameter, 0.5},
          {Category::communication, calibrate::CollectiveKind::all_gather, link_parameter, 1.0}};
}

// A program with a host, a compute and a communication stream.
struct TestProgram {
  Program program;
  std::uint16_t host = program.add_stream("host", StreamKind::host);
  std::uint16_t compute = program.add_stream("compute", StreamKind::compute);
  std::uint16_t communication = program.add_stream("communication", StreamKind::communication);

  explicit TestProgram(const std::string& rank_class = "worker") { program.rank_class = rank_class; }

  ActivityIndex launch(double seconds, const std::vector<ActivityIndex>& waits_for = {}) {
    return program.add_timed(host, Category::launch, program.add_label("launch"), launch_time(seconds), waits_for);
  }
  ActivityIndex kernel(double seconds, const std::vector<ActivityIndex>& waits_for = {},
                       Category category = Category::forward) {
    return program.add_timed(compute, category, program.add_label("kernel"), kernel_time(seconds), waits_for);
  }
  // On the compute stream; every part rests on a parameter of its own.
  ActivityIndex mixed(const Mixture& mixture, const std::vector<ActivityIndex>& waits_for = {}) {
    return program.add_mixed(compute, Category::forward, program.add_label("chunk"), program.add_mixture(mixture),
                             waits_for);
  }
  ActivityIndex send_receive(const std::string& communicator, double bytes,
                             const std::vector<ActivityIndex>& waits_for = {}) {
    return program.add_collective(communication, program.add_communicator(communicator),
                                  calibrate::CollectiveKind::send_receive, Bytes(bytes),
                                  program.add_label("activations"), waits_for);
  }
  ActivityIndex all_reduce(const std::string& communicator, double bytes,
                           const std::vector<ActivityIndex>& waits_for = {}, const std::string& label = "all-reduce") {
    return program.add_collective(communication, program.add_communicator(communicator),
                                  calibrate::CollectiveKind::all_reduce, Bytes(bytes), program.add_label(label),
                                  waits_for);
  }
};

// One rank that talks to nobody.
inline Job lonely_job(Program program) {
  Job job;
  job.programs.push_back(std::move(program));
  job.instances.emplace_back();
  job.ranks = 1;
  return job;
}

// `ranks` nodes with one NIC each way of `bandwidth`; every communicator of the program is one ring over all
// of them in the order of ranks.
inline Job ring_job(const Program& program, int ranks, double bandwidth = 50e9) {
  Job job;
  job.programs.push_back(program);
  job.ranks = ranks;
  job.link_kinds = {"NIC out", "NIC in"};
  const auto count = static_cast<std::uint32_t>(ranks);
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    job.links.push_back({BytesPerSecond(bandwidth), link_parameter, i % 2});
  }
  for (const std::string& communicator : program.communicators) {
    Group ring;
    ring.communicator = communicator;
    ring.shape = {ranks, ranks, 1};
    for (std::uint32_t i = 0; i < count; ++i) {
      ring.members.push_back(i);
      ring.flows.push_back({{{2 * i, 1}, {2 * ((i + 1) % count) + 1, 1}}, 1.0, true});
    }
    job.groups.push_back(std::move(ring));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    job.instances.emplace_back();
    job.instances.back().rank = static_cast<int>(i);
    for (std::uint32_t c = 0; c < program.communicators.size(); ++c) {
      job.instances.back().group_of_communicator.push_back(c);
    }
  }
  return job;
}

inline const Span& span(const Timeline& timeline, std::size_t instance, ActivityIndex activity) {
  return timeline.spans[timeline.first_of[instance] + activity];
}

}  // namespace foretrain::sim::engine
