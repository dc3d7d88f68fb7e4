#include "sim/timeline.h"

#include <map>
#include <numeric>

#include "sim/engine/replay.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

double total(const std::vector<CriticalShare>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0,
                         [](double sum, const CriticalShare& share) { return sum + share.seconds; });
}

double of(const std::vector<CriticalShare>& shares, ParameterId parameter) {
  for (const CriticalShare& share : shares) {
    if (share.parameter == parameter) return share.seconds;
  }
  return 0;
}

void holds(Program& program, ActivityIndex activity, double allocates, double frees) {
  program.activities[activity].allocates_bytes = allocates;
  program.activities[activity].frees_bytes = frees;
}

}  // namespace

TEST_CASE("the critical path of a compute-bound rank is its kernels") {
  // Launches of 1 s before kernels of 2 s: one launch, then kernels back to back.
  TestProgram rank;
  for (int i = 0; i < 5; ++i) rank.kernel(2, {rank.launch(1)});
  const Job job = lonely_job(rank.program);
  const Timeline timeline = replay(job, PlainPlanner());
  const std::vector<CriticalShare> shares = critical_path(job, timeline);
  CHECK(timeline.step_seconds == 11);
  CHECK(of(shares, kernel_parameter) == 10);
  CHECK(of(shares, launch_parameter) == 1);
  CHECK(total(shares) == 11);
}

TEST_CASE("the critical path of a host-bound rank is its launches and the last kernel") {
  TestProgram rank;
  for (int i = 0; i < 5; ++i) rank.kernel(1, {rank.launch(2)});
  const Job job = lonely_job(rank.program);
  const std::vector<CriticalShare> shares = critical_path(job, replay(job, PlainPlanner()));
  CHECK(of(shares, kernel_parameter) == 1);
  CHECK(of(shares, launch_parameter) == 10);
}

TEST_CASE("the critical path leads through a collective to its last member") {
  // Rank 1 computes 3 s, rank 0 1 s; 0.5 s of latency, 1 s of transfer, then 2 s of kernel.
  TestProgram fast("fast"), slow("slow");
  fast.kernel(2, {fast.all_reduce("data", 50e9, {fast.kernel(1)})});
  slow.kernel(2, {slow.all_reduce("data", 50e9, {slow.kernel(3)})});
  Job job = ring_job(fast.program, 2, 50e9);
  job.programs.push_back(slow.program);
  job.instances[1].program = 1;
  PlainPlanner planner;
  planner.alpha = 0.5;
  const Timeline timeline = replay(job, planner);
  const std::vector<CriticalShare> shares = critical_path(job, timeline);
  CHECK(timeline.step_seconds == Approx(6.5).epsilon(1e-12));
  CHECK(of(shares, kernel_parameter) == Approx(5).epsilon(1e-12));
  CHECK(of(shares, latency_parameter) == Approx(0.5).epsilon(1e-12));
  CHECK(of(shares, link_parameter) == Approx(1).epsilon(1e-12));
  CHECK(total(shares) == Approx(timeline.step_seconds).epsilon(1e-12));
}

TEST_CASE("a collective that hides behind compute is not critical") {
  TestProgram rank;
  const ActivityIndex first = rank.kernel(1);
  const ActivityIndex reduce = rank.all_reduce("data", 25e9, {first});  // 0.5 s
  const ActivityIndex second = rank.kernel(1);
  rank.kernel(1, {second, reduce});
  const Job job = ring_job(rank.program, 2);
  const std::vector<CriticalShare> shares = critical_path(job, replay(job, PlainPlanner()));
  REQUIRE(shares.size() == 1);
  CHECK(of(shares, kernel_parameter) == 3);
}

TEST_CASE("the critical path names the narrowest link of the flow that ended last") {
  // Two flows of 10 GB: one over NICs of 50 GB/s, one over NICs and an uplink of 25 GB/s.
  constexpr ParameterId uplink_parameter{1};
  TestProgram rank;
  rank.all_reduce("data", 10e9);
  Job job = ring_job(rank.program, 2);
  job.links.push_back({BytesPerSecond(25e9), uplink_parameter, 2});
  job.groups[0].flows[1].route.push_back({4, 1});
  const std::vector<CriticalShare> shares = critical_path(job, replay(job, PlainPlanner()));
  CHECK(of(shares, uplink_parameter) == Approx(0.4).epsilon(1e-12));
  CHECK(of(shares, link_parameter) == 0);
}

TEST_CASE("what stands for many is on the critical path with its parts") {
  // A mixture of 4.5 s (3 s kernels, 0.5 s launches, 1 s collective), then a kernel of 1 s; stretched by 2 the mixture
  // takes 6 + 1 + 1 s and the kernel 2 s.
  TestProgram rank;
  rank.kernel(1, {rank.mixed(test_mixture())});
  Job job = lonely_job(rank.program);
  for (const double stretch : {1.0, 2.0}) {
    job.instances[0].stretch = stretch;
    const Timeline timeline = replay(job, PlainPlanner());
    const std::vector<CriticalShare> shares = critical_path(job, timeline);
    CHECK(of(shares, kernel_parameter) == Approx(4 * stretch).epsilon(1e-12));
    CHECK(of(shares, launch_parameter) == Approx(0.5 * stretch).epsilon(1e-12));
    CHECK(of(shares, link_parameter) == Approx(1).epsilon(1e-12));
    CHECK(total(shares) == Approx(timeline.step_seconds).epsilon(1e-12));
  }
}

TEST_CASE("an empty job has no critical path") {
  const Job job = lonely_job(Program());
  CHECK(critical_path(job, replay(job, PlainPlanner())).empty());
}

TEST_CASE("peak memory is read off the timeline") {
  // Forward keeps 3 and 2 GB, backward frees them in reverse; 4 GB are held throughout.
  TestProgram rank;
  rank.program.resident_bytes = 4e9;
  const ActivityIndex forward_1 = rank.kernel(1), forward_2 = rank.kernel(1);
  const ActivityIndex backward_2 = rank.kernel(2), backward_1 = rank.kernel(2);
  holds(rank.program, forward_1, 3e9, 0);
  holds(rank.program, forward_2, 2e9, 0);
  holds(rank.program, backward_2, 1e9, 2e9 + 1e9);  // needs 1 GB while it runs
  holds(rank.program, backward_1, 1e9, 3e9 + 1e9);
  const Timeline timeline = replay(lonely_job(rank.program), PlainPlanner());
  CHECK(timeline.peak_bytes == std::vector<double>{4e9 + 3e9 + 2e9 + 1e9});
}

TEST_CASE("what is freed when an activity ends is there for the next") {
  TestProgram rank;
  for (int i = 0; i < 3; ++i) holds(rank.program, rank.kernel(1), 1e9, 1e9);
  CHECK(replay(lonely_job(rank.program), PlainPlanner()).peak_bytes == std::vector<double>{1e9});
}

TEST_CASE("the hash tells timelines apart") {
  Timeline timeline;
  timeline.first_of = {0, 1};
  timeline.spans = {{0, 1, no_span}, {0, 2, no_span}};
  Timeline later = timeline, moved = timeline;
  later.spans[1].finish = 2.0000000000000004;
  moved.first_of = {0, 2};  // the same spans, both of instance 0
  CHECK(timeline.hash() != later.hash());
  CHECK(timeline.hash() != moved.hash());
  CHECK(timeline.hash() == Timeline(timeline).hash());
}
