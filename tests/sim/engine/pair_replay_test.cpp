// Pairs: what goes one way does not slow what goes the other way; what shares a NIC shares its rate.
#include <random>

#include "tests/catch.h"
#include "tests/sim/engine/fold_check.h"
#include "tests/sim/engine/pipeline_jobs.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;
using calibrate::IntraNode;

namespace {

// Two nodes of two GPUs with one NIC of 40 GB/s each; latency 20 µs (10 once, 10 per hop).
struct TwoNodes {
  TestNetwork network{4, 2, IntraNode::nvswitch, 1};
  Topology topology = network.topology();
  CollectiveCosts costs = network.costs(topology);
  double latency = 20e-6;

  // Each pair sends once, at the start; every rank is of a class of its own.
  Timeline sent(const std::vector<std::vector<int>>& pairs, double bytes, double late_seconds = 0) {
    std::vector<Program> programs;
    Placement placement;
    for (int rank = 0; rank < 4; ++rank) {
      placement.class_of_rank.push_back(rank);
      Program& program = programs.emplace_back();
      program.rank_class = "rank";
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        if (pairs[p][0] != rank && pairs[p][1] != rank) continue;
        const std::uint16_t stream = program.add_stream("pair", StreamKind::communication);
        std::vector<ActivityIndex> waits;
        if (pairs[p][1] == rank && late_seconds > 0) {
          const std::uint16_t compute = program.add_stream("compute", StreamKind::compute);
          waits = {program.add_timed(compute, Category::forward, program.add_label("kernel"), kernel_time(late_seconds))};
        }
        program.add_collective(stream, program.add_communicator(std::to_string(p)),
                               calibrate::CollectiveKind::send_receive, Bytes(bytes), program.add_label("send"), waits);
      }
    }
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      placement.communicators.push_back({std::to_string(p), {pairs[p]}, Pattern::pair});
    }
    return replay(expand(programs, placement, topology), costs);
  }
};

}  // namespace

TEST_CASE("a pair takes its latency and its bytes at the rate of its route") {
  TwoNodes test;
  // 40 GB between nodes at 40 GB/s; 50 GB inside a node at 100 GB/s after 10 + 2 µs.
  CHECK(test.sent({{0, 2}}, 40e9).step_seconds == Approx(test.latency + 1).epsilon(1e-12));
  CHECK(test.sent({{0, 1}}, 50e9).step_seconds == Approx(12e-6 + 0.5).epsilon(1e-12));
  CHECK(test.costs.plan(calibrate::CollectiveKind::send_receive, Bytes(40e9), pair_shape(0, 2, test.topology))
            .alone.time.value == Approx(test.latency + 1).epsilon(1e-12));
}

TEST_CASE("two pairs in opposite directions do not slow each other") {
  TwoNodes test;
  CHECK(test.sent({{0, 2}, {2, 0}}, 40e9).step_seconds == Approx(test.latency + 1).epsilon(1e-12));
  CHECK(test.sent({{0, 1}, {1, 0}}, 100e9).step_seconds == Approx(12e-6 + 1).epsilon(1e-12));
}

TEST_CASE("two pairs through one NIC share it") {
  TwoNodes test;
  CHECK(test.sent({{0, 2}, {1, 3}}, 40e9).step_seconds == Approx(test.latency + 2).epsilon(1e-12));
}

TEST_CASE("a pair meets: the sender waits for a receiver that comes late") {
  TwoNodes test;
  const Timeline timeline = test.sent({{0, 2}}, 40e9, 0.25);
  CHECK(timeline.step_seconds == Approx(0.25 + test.latency + 1).epsilon(1e-12));
  CHECK(timeline.collectives[0].all_arrived == Approx(0.25).epsilon(1e-12));
  CHECK(span(timeline, 0, 0).start == 0);
}

TEST_CASE("a pipeline with short transfers takes m + p - 1 passes each way and a few transfers") {
  const Layout layout = layout_of(1, 1, 4);
  TestNetwork network(4, 4, IntraNode::nvswitch, 1);
  const Topology topology = network.topology();
  PipelineStep step;
  step.micro_batches = 8;
  step.activation_bytes = 1;  // 12 µs of latency each, nothing else
  const double transfer = network.costs(topology)
                              .plan(calibrate::CollectiveKind::send_receive, Bytes(1), pair_shape(0, 1, topology))
                              .alone.time.value;
  const Job job = expand(pipeline_programs(layout, step), pipeline_placement(layout), topology);
  const double seconds = replay(job, network.costs(topology)).step_seconds;
  const double ideal = (8 + 4 - 1) * 3e-3;
  // At least the transfers of filling and draining, at most two per pass of the longest chain.
  CHECK(seconds >= ideal + 6 * transfer - 1e-12);
  CHECK(seconds <= ideal + 2 * (8 + 4) * transfer);
}

TEST_CASE("jobs of tensor groups, data groups and pairs fold exactly") {
  // Up to 64 ranks: random degrees, nodes, NICs, leaves, sizes, with or without each kind of communication.
  std::mt19937 random(7);
  const auto one_of = [&](const std::vector<int>& choices) { return choices[random() % choices.size()]; };
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
  };
  int folded = 0;
  for (int round = 0; round < 120; ++round) {
    const int tensor = one_of({1, 2, 4}), stages = one_of({1, 2, 3, 4}), data = one_of({1, 2, 4});
    const Layout layout = layout_of(tensor, data, stages);
    TestNetwork network(layout.ranks(), one_of({1, 2, 4, 8}), IntraNode::nvswitch, one_of({1, 2}));
    network.cluster.nodes_per_leaf = one_of({0, 0, 1, 2, 3});
    network.cluster.oversubscription = between(1, 3);
    PipelineStep step;
    step.micro_batches = one_of({1, 2, 5, 8});
    step.forward_seconds = between(1e-4, 3e-3);
    step.backward_seconds = between(1e-4, 3e-3);
    step.activation_bytes = one_of({0, 1, 1, 1}) * between(1e3, 1e8);
    step.tensor_bytes = one_of({0, 1}) * between(1e3, 1e8);
    step.gradient_bytes = one_of({0, 1}) * between(1e3, 1e9);
    step.rate_while_communicating = one_of({0, 1}) == 1 ? 1.0 : between(0.6, 1);
    Placement placement = pipeline_placement(layout);
    if (one_of({0, 0, 1}) == 1) {
      placement.stretch_of_rank.assign(static_cast<std::size_t>(layout.ranks()), 1.0);
      placement.stretch_of_rank[random() % placement.stretch_of_rank.size()] = 1.2;
    }
    CAPTURE(round, tensor, data, stages);
    const std::size_t representatives = check_fold(pipeline_programs(layout, step), placement, network);
    folded += representatives < static_cast<std::size_t>(layout.ranks());
  }
  CHECK(folded > 60);  // the comparison is not of jobs that do not fold
}
