// Streams, dependencies, host, contention for SMs, determinism.
#include "sim/engine/replay.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

// `count` kernels, each launched by the host; no communication.
Program launched_kernels(int count, double launch, double kernel) {
  TestProgram rank;
  for (int i = 0; i < count; ++i) rank.kernel(kernel, {rank.launch(launch)});
  return rank.program;
}

// Kernels of 10 ms with an all-reduce of 50 MB after every second one and an optimizer step at the end.
Program small_step(double launch = 2e-3) {
  TestProgram rank;
  std::vector<ActivityIndex> reduces;
  for (int i = 0; i < 6; ++i) {
    const ActivityIndex kernel = rank.kernel(10e-3, {rank.launch(launch)}, Category::backward);
    if (i % 2 == 1) reduces.push_back(rank.all_reduce("data", 50e6, {kernel}));
  }
  rank.kernel(5e-3, reduces, Category::optimizer);
  rank.program.compute_rate_while_communicating = 0.9;
  return rank.program;
}

}  // namespace

TEST_CASE("activities of a stream run one after another, streams beside each other") {
  TestProgram rank;
  const ActivityIndex a = rank.kernel(1), b = rank.kernel(2);
  const ActivityIndex launch = rank.launch(2.5);
  const ActivityIndex c = rank.kernel(1, {launch, a});
  const Timeline timeline = replay(lonely_job(rank.program), PlainPlanner());
  CHECK(span(timeline, 0, a).start == 0);
  CHECK(span(timeline, 0, b).start == 1);
  CHECK(span(timeline, 0, launch).start == 0);
  CHECK(span(timeline, 0, c).start == 3);
  CHECK(span(timeline, 0, c).released_by == b);
  CHECK(span(timeline, 0, a).released_by == no_span);
  CHECK(timeline.step_seconds == 4);
}

TEST_CASE("a host-bound step is its launches and one kernel") {
  // 1,000 launches of 5 µs, kernels of 3 µs: the last kernel starts at 5 ms.
  const Timeline timeline = replay(lonely_job(launched_kernels(1000, 5e-6, 3e-6)), PlainPlanner());
  CHECK(timeline.step_seconds == Approx(1000 * 5e-6 + 3e-6).epsilon(1e-12));
}

TEST_CASE("a compute-bound step is one launch and its kernels") {
  const Timeline timeline = replay(lonely_job(launched_kernels(1000, 3e-6, 5e-6)), PlainPlanner());
  CHECK(timeline.step_seconds == Approx(3e-6 + 1000 * 5e-6).epsilon(1e-12));
}

TEST_CASE("a step that is host-bound first and compute-bound then") {
  // Ten kernels of 1 µs, then ten of 10 µs, launches of 4 µs. Kernel 10 starts at 40 µs and ends at 41; the first long
  // one starts with its launch at 44 µs and the others follow without a gap: 44 + 100 = 144 µs.
  TestProgram rank;
  for (int i = 0; i < 20; ++i) rank.kernel(i < 10 ? 1e-6 : 10e-6, {rank.launch(4e-6)});
  CHECK(replay(lonely_job(rank.program), PlainPlanner()).step_seconds == Approx(144e-6).epsilon(1e-12));
}

TEST_CASE("compute is slower while the rank communicates") {
  // 1 s of work; 0.4 s of communication during which it runs at 85 %: 0.34 s of work done, 0.66 s left: 1.06 s.
  TestProgram rank;
  rank.kernel(1.0);
  rank.all_reduce("data", 0.4 * 50e9);
  rank.program.compute_rate_while_communicating = 0.85;
  CHECK(span(replay(ring_job(rank.program, 2), PlainPlanner()), 0, 0).finish == Approx(1.06).epsilon(1e-12));

  SECTION("from the middle of a kernel on") {
    // Kernels of 0.25 s and 1 s; the communication waits for the first: 0.25 + 1.06.
    TestProgram later;
    const ActivityIndex first = later.kernel(0.25), second = later.kernel(1.0);
    later.all_reduce("data", 0.4 * 50e9, {first});
    later.program.compute_rate_while_communicating = 0.85;
    const Timeline timeline = replay(ring_job(later.program, 2), PlainPlanner());
    CHECK(span(timeline, 0, second).finish == Approx(1.31).epsilon(1e-12));
  }
  SECTION("host work is not") {
    TestProgram host;
    host.launch(1.0);
    host.all_reduce("data", 0.4 * 50e9);
    host.program.compute_rate_while_communicating = 0.85;
    CHECK(replay(ring_job(host.program, 2), PlainPlanner()).step_seconds == 1.0);
  }
  SECTION("a wait for other members is not communication") {
    // Rank 1 arrives after 2 s of host work; rank 0's kernel of 1 s is over by then.
    TestProgram late("late");
    late.all_reduce("data", 0.4 * 50e9, {late.launch(2.0)});
    Job job = ring_job(rank.program, 2);
    job.programs.push_back(late.program);
    job.instances[1].program = 1;
    CHECK(span(replay(job, PlainPlanner()), 0, 0).finish == 1.0);
  }
}

TEST_CASE("stretch lengthens kernels only") {
  TestProgram rank;
  rank.kernel(1.0, {rank.launch(1.0)});
  Job job = lonely_job(rank.program);
  job.instances[0].stretch = 1.5;
  CHECK(replay(job, PlainPlanner()).step_seconds == Approx(2.5).epsilon(1e-12));
}

TEST_CASE("a draw multiplies the times of each parameter") {
  TestProgram rank;
  rank.kernel(1.0, {rank.launch(1.0)});
  const Draw draw = {1.1, 0.5, 1, 1};
  CHECK(replay(lonely_job(rank.program), PlainPlanner(), {Fidelity::fluid, &draw}).step_seconds ==
        Approx(1.1 + 0.5).epsilon(1e-12));
}

TEST_CASE("a mixture takes what its parts take") {
  TestProgram rank;
  const ActivityIndex chunk = rank.mixed(test_mixture());
  CHECK(rank.program.activities[chunk].duration.time.value == 4.5);
  CHECK(rank.program.activities[chunk].duration.parameter == kernel_parameter);
  CHECK(replay(lonely_job(rank.program), PlainPlanner()).step_seconds == 4.5);

  SECTION("each by its own parameter") {
    // Kernels 3·1.1, launches 0.5·2, the collective 1·0.5 s.
    const Draw draw = {1.1, 2, 1, 0.5};
    CHECK(replay(lonely_job(rank.program), PlainPlanner(), {Fidelity::fluid, &draw}).step_seconds ==
          Approx(3.3 + 1 + 0.5).epsilon(1e-12));
  }
  SECTION("a rank's stretch lengthens all but communication") {
    Job job = lonely_job(rank.program);
    job.instances[0].stretch = 2;
    CHECK(replay(job, PlainPlanner()).step_seconds == Approx(2 * 3.5 + 1).epsilon(1e-12));
  }
  SECTION("and nothing that is not on a compute stream") {
    Job job = lonely_job(rank.program);
    job.programs[0].activities[chunk].stream = rank.host;
    job.instances[0].stretch = 2;
    CHECK(replay(job, PlainPlanner()).step_seconds == 4.5);
  }
  SECTION("twice with one mixture, slower while the rank communicates") {
    // 9 s of work; for 4 s of all-reduce it runs at half rate: 2 s of work done, 7 s left.
    TestProgram both;
    const std::uint32_t label = both.program.add_label("chunk");
    const std::uint32_t mixture = both.program.add_mixture(test_mixture());
    for (int i = 0; i < 2; ++i) both.program.add_mixed(both.compute, Category::forward, label, mixture);
    both.all_reduce("data", 4 * 50e9);
    both.program.compute_rate_while_communicating = 0.5;
    CHECK(replay(ring_job(both.program, 2), PlainPlanner()).step_seconds == Approx(11).epsilon(1e-12));
  }
}

TEST_CASE("activities without duration, in long chains") {
  TestProgram rank;
  for (int i = 0; i < 100000; ++i) rank.kernel(0);
  rank.kernel(1);
  const Timeline timeline = replay(lonely_job(rank.program), PlainPlanner());
  CHECK(timeline.step_seconds == 1);
  CHECK(timeline.events == 1);
}

TEST_CASE("an empty program takes no time") {
  const Timeline timeline = replay(lonely_job(Program()), PlainPlanner());
  CHECK(timeline.step_seconds == 0);
  CHECK(timeline.spans.empty());
}

TEST_CASE("a step of days and a step of nanoseconds are equally exact") {
  for (const double scale : {1e-9, 1.0, 1e6}) {
    TestProgram rank;
    for (int i = 0; i < 1000; ++i) rank.kernel(3 * scale, {rank.launch(1 * scale)});
    CAPTURE(scale);
    CHECK(replay(lonely_job(rank.program), PlainPlanner()).step_seconds == Approx(3001 * scale).epsilon(1e-12));
  }
}

TEST_CASE("the same job gives the same timeline, bit for bit, also after others") {
  const Job job = ring_job(small_step(), 16);
  const std::uint64_t hash = replay(job, RingPlanner(2e-6)).hash();
  std::set<std::uint64_t> hashes;
  for (int i = 0; i < 20; ++i) {
    (void)replay(ring_job(small_step(1e-3 * i), 2 + i), RingPlanner(3e-6));
    hashes.insert(replay(job, RingPlanner(2e-6)).hash());
  }
  CHECK(hashes == std::set<std::uint64_t>{hash});
  CHECK(replay(ring_job(small_step(2.0001e-3), 16), RingPlanner(2e-6)).hash() != hash);
}

TEST_CASE("a communicator without a group is named") {
  TestProgram rank;
  rank.all_reduce("tensor", 1e6, {}, "all-reduce of activations");
  Job job = lonely_job(rank.program);
  job.instances[0].group_of_communicator = {no_group};
  CHECK_THROWS_WITH(replay(job, PlainPlanner()), Catch::Contains("rank 0 (worker)") && Catch::Contains("\"tensor\"") &&
                                                     Catch::Contains("all-reduce of activations"));
}
