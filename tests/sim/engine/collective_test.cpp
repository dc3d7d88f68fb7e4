// Collectives alone and against each other: closed forms, fidelities, shared links.
#include <cmath>

#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

constexpr double alpha = 2e-6;
constexpr double bandwidth = 50e9;

double all_reduce_seconds(int ranks, double bytes, Fidelity fidelity) {
  TestProgram worker;
  worker.all_reduce("data", bytes);
  return replay(ring_job(worker.program, ranks, bandwidth), RingPlanner(alpha, bandwidth), {fidelity, nullptr})
      .step_seconds;
}

// Two all-reduces at the same time on the same NICs, each on its own stream and communicator.
Timeline two_rings(double bytes_a, double bytes_b, Fidelity fidelity = Fidelity::fluid) {
  TestProgram worker;
  const std::uint16_t other = worker.program.add_stream("other communication", StreamKind::communication);
  worker.all_reduce("a", bytes_a);
  worker.program.add_collective(other, worker.program.add_communicator("b"), calibrate::CollectiveKind::all_reduce,
                                Bytes(bytes_b), worker.program.add_label("b"));
  return replay(ring_job(worker.program, 64, bandwidth), RingPlanner(alpha, bandwidth), {fidelity, nullptr});
}

}  // namespace

TEST_CASE("ring all-reduce: steps, fluid and analytic equal the closed form") {
  for (const int ranks : {2, 3, 4, 7, 8, 16, 31, 32, 64}) {
    for (const double bytes : {4.0, 25.0 * 1048576, 256e6}) {
      const double closed_form = 2 * (ranks - 1) * (alpha + bytes / (ranks * bandwidth));
      CAPTURE(ranks, bytes);
      CHECK(all_reduce_seconds(ranks, bytes, Fidelity::steps) == Approx(closed_form).epsilon(1e-9));
      CHECK(all_reduce_seconds(ranks, bytes, Fidelity::fluid) == Approx(closed_form).epsilon(1e-9));
      CHECK(all_reduce_seconds(ranks, bytes, Fidelity::analytic) == Approx(closed_form).epsilon(1e-9));
    }
  }
}

TEST_CASE("two rings on the same NICs share them evenly") {
  // Latency of both: 126 · 2 µs = 0.252 ms. Each rank sends 126/64 · S: 504 MB for 256 MB, 252 MB for 128 MB.
  SECTION("256 MB and 128 MB") {
    // B at half of 50 GB/s: 252 MB / 25 GB/s = 10.08 ms. A has 252 MB left, alone: 5.04 ms more.
    const Timeline timeline = two_rings(256e6, 128e6);
    CHECK(span(timeline, 0, 1).finish == Approx(10.332e-3).epsilon(1e-9));
    CHECK(span(timeline, 0, 0).finish == Approx(15.372e-3).epsilon(1e-9));
    CHECK(timeline.step_seconds == span(timeline, 0, 0).finish);
  }
  SECTION("256 MB each") {
    // 504 MB / 25 GB/s = 20.16 ms.
    const Timeline timeline = two_rings(256e6, 256e6);
    for (std::size_t rank = 0; rank < 64; ++rank) {
      CHECK(span(timeline, rank, 0).finish == Approx(20.412e-3).epsilon(1e-9));
      CHECK(span(timeline, rank, 1).finish == Approx(20.412e-3).epsilon(1e-9));
    }
  }
  SECTION("every step on its own gives the same") {
    const Timeline timeline = two_rings(256e6, 256e6, Fidelity::steps);
    CHECK(timeline.step_seconds == Approx(20.412e-3).epsilon(1e-9));
  }
}

TEST_CASE("sharing is even whatever the latencies") {
  // Two flows of 100 MB on one 10 GB/s link, latencies 5 ms and 50 µs. The second is alone for 4.95 ms (49.5 MB), then
  // both run at 5 GB/s: it ends 50.5 MB / 5 GB/s = 10.1 ms later at 15.1 ms. The first has 49.5 MB left: 4.95 ms more.
  TestProgram worker;
  const std::uint16_t other = worker.program.add_stream("other communication", StreamKind::communication);
  worker.all_reduce("late", 100e6);
  worker.program.add_collective(other, worker.program.add_communicator("early"),
                                calibrate::CollectiveKind::send_receive, Bytes(100e6),
                                worker.program.add_label("early"));
  struct Planner final : CollectivePlanner {
    [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind kind, Bytes bytes, const GroupShape&) const override {
      CollectivePlan plan;
      plan.alpha.time = Seconds(kind == calibrate::CollectiveKind::all_reduce ? 5e-3 : 50e-6);
      plan.node_bytes = bytes;
      return plan;
    }
  };
  const Timeline timeline = replay(ring_job(worker.program, 2, 10e9), Planner());
  CHECK(span(timeline, 0, 1).finish == Approx(15.1e-3).epsilon(1e-9));
  CHECK(span(timeline, 0, 0).finish == Approx(20.05e-3).epsilon(1e-9));
}

TEST_CASE("a collective starts when its last member arrives") {
  // Rank 1 computes 3 s, rank 0 1 s; 100 MB over 50 GB/s.
  TestProgram fast("fast"), slow("slow");
  fast.all_reduce("data", 100e6, {fast.kernel(1)});
  slow.all_reduce("data", 100e6, {slow.kernel(3)});
  Job job = ring_job(fast.program, 2);
  job.programs.push_back(slow.program);
  job.instances[1].program = 1;
  const Timeline timeline = replay(job, PlainPlanner());
  CHECK(span(timeline, 0, 1).start == 1.0);
  CHECK(span(timeline, 1, 1).start == 3.0);
  CHECK(span(timeline, 0, 1).finish == Approx(3.002).epsilon(1e-12));
  const CollectiveSpan& collective = timeline.collectives.at(timeline.collective_of[1]);
  CHECK(collective.all_arrived == 3.0);
  CHECK(span(timeline, 0, 1).released_by == timeline.first_of[1]);  // rank 1's kernel let it start
}

TEST_CASE("a folded link crossed 256 times by one flow equals 256 flows") {
  // 256 flows of 1 MB over an uplink of 64 GB/s: 0.25 GB/s each, 4 ms.
  TestProgram worker;
  worker.all_reduce("data", 1e6);
  Job job;
  job.programs = {worker.program};
  job.instances.resize(1);
  job.instances[0].group_of_communicator = {0};
  job.links = {{BytesPerSecond(64e9), link_parameter, 0}};
  job.groups = {{"data", {256, 256, 1}, {0}, {{{{0, 256}}, 1.0, true}}}};
  CHECK(replay(job, PlainPlanner()).step_seconds == Approx(4e-3).epsilon(1e-9));
}

TEST_CASE("a collective on a group of one costs nothing") {
  TestProgram worker;
  worker.kernel(1, {worker.all_reduce("data", 1e9)});
  CHECK(replay(ring_job(worker.program, 1), PlainPlanner()).step_seconds == 1.0);
}

TEST_CASE("a group without links waits for its latency only") {
  TestProgram worker;
  worker.all_reduce("data", 1e9);
  Job job = ring_job(worker.program, 4);
  job.groups[0].flows.clear();
  PlainPlanner planner;
  planner.alpha = 3e-6;
  CHECK(replay(job, planner).step_seconds == 3e-6);
}

TEST_CASE("a rate that makes the step infinite is an error") {
  TestProgram worker;
  worker.all_reduce("data", 1e9);
  CHECK_THROWS_WITH(replay(ring_job(worker.program, 2, 1e-305), PlainPlanner()),
                    Catch::Contains("longer than can be counted"));
}

TEST_CASE("a draw stretches latencies and divides links") {
  // 8 ranks, 256 MB: latency 14 · 2 µs twice as long, 14/8 · 256 MB = 448 MB over 50 GB/s / 1.25 = 40 GB/s.
  TestProgram worker;
  worker.all_reduce("data", 256e6);
  const Draw draw = {1, 1, 2, 1.25};
  const Timeline timeline = replay(ring_job(worker.program, 8), RingPlanner(alpha), {Fidelity::fluid, &draw});
  CHECK(timeline.step_seconds == Approx(56e-6 + 448e6 / 40e9).epsilon(1e-9));
  const CollectiveSpan& collective = timeline.collectives.at(0);
  CHECK(collective.alpha_end == Approx(56e-6).epsilon(1e-12));
  CHECK(collective.alpha_parameter == latency_parameter);
  CHECK(collective.bandwidth_parameter == link_parameter);
}
