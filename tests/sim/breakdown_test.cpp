#include "sim/breakdown.h"

#include <numeric>

#include "sim/engine/replay.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

using Parts = std::map<std::string, double>;

Parts parts_of(const Job& job, const Timeline& timeline, std::uint32_t instance = 0) {
  Parts parts = breakdown(job, timeline, instance);
  const double sum =
      std::accumulate(parts.begin(), parts.end(), 0.0, [](double s, const auto& part) { return s + part.second; });
  CHECK(sum == Approx(timeline.step_seconds).epsilon(1e-12));
  return parts;
}

Parts parts_of(const Job& job) { return parts_of(job, replay(job, PlainPlanner())); }

}  // namespace

TEST_CASE("kernels count before what overlaps them") {
  // 2 s forward, 3 s backward, 4 s of all-reduce beside the backward: 1 s is exposed; then 1 s optimizer.
  TestProgram rank;
  const ActivityIndex forward = rank.kernel(2, {}, Category::forward);
  const ActivityIndex backward = rank.kernel(3, {}, Category::backward);
  const ActivityIndex reduce = rank.all_reduce("data", 4 * 50e9, {forward});
  rank.kernel(1, {backward, reduce}, Category::optimizer);
  const Parts parts = parts_of(ring_job(rank.program, 2));
  CHECK(parts.at("forward") == Approx(2).epsilon(1e-12));
  CHECK(parts.at("backward") == Approx(3).epsilon(1e-12));
  CHECK(parts.at("exposed_all_reduce") == Approx(1).epsilon(1e-12));
  CHECK(parts.at("optimizer") == Approx(1).epsilon(1e-12));
  CHECK(parts.size() == 4);
}

TEST_CASE("a host-bound rank waits for launches") {
  // Kernels of 1 s with launches of 3 s: 2 s of every launch after the first are not covered, the first not at all.
  TestProgram rank;
  for (int i = 0; i < 4; ++i) rank.kernel(1, {rank.launch(3)});
  const Parts parts = parts_of(lonely_job(rank.program));
  CHECK(parts.at("launch") == Approx(3 + 3 * 2).epsilon(1e-12));
  CHECK(parts.at("forward") == Approx(4).epsilon(1e-12));
}

TEST_CASE("waiting for other members is the stragglers' fault") {
  // Rank 1 computes 3 s, rank 0 1 s, then both reduce 1 s.
  TestProgram fast("fast"), slow("slow");
  fast.all_reduce("data", 50e9, {fast.kernel(1)});
  slow.all_reduce("data", 50e9, {slow.kernel(3)});
  Job job = ring_job(fast.program, 2);
  job.programs.push_back(slow.program);
  job.instances[1].program = 1;
  const Timeline timeline = replay(job, PlainPlanner());
  CHECK(parts_of(job, timeline, 0).at("straggler_wait") == Approx(2).epsilon(1e-12));
  CHECK(parts_of(job, timeline, 0).at("exposed_all_reduce") == Approx(1).epsilon(1e-12));
  CHECK(parts_of(job, timeline, 1).count("straggler_wait") == 0);
}

TEST_CASE("what jitter stretches a kernel by is straggler wait") {
  TestProgram rank;
  rank.kernel(2);
  Job job = lonely_job(rank.program);
  job.instances[0].stretch = 1.25;
  const Parts parts = parts_of(job);
  CHECK(parts.at("forward") == Approx(2).epsilon(1e-12));
  CHECK(parts.at("straggler_wait") == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("the input pipeline stalls a rank where nothing else runs") {
  // 5 s of input, 1 s of launch and 3 s of kernel beside it; then 1 s of kernel.
  TestProgram rank;
  const std::uint16_t input = rank.program.add_stream("input", StreamKind::input);
  const ActivityIndex batch =
      rank.program.add_timed(input, Category::input, rank.program.add_label("decode"), kernel_time(5));
  rank.kernel(3, {rank.launch(1)});
  rank.kernel(1, {batch});
  const Parts parts = parts_of(lonely_job(rank.program));
  CHECK(parts.at("input_stall") == Approx(2).epsilon(1e-12));
  CHECK(parts.at("forward") == Approx(4).epsilon(1e-12));
  CHECK(parts.count("launch") == 0);
}

TEST_CASE("what stands for many is dealt to its parts") {
  // 2 s forward, 1 s recompute, 0.5 s launches, 1 s all-gather, beside 4 s of all-reduce that is hidden throughout.
  TestProgram rank;
  rank.mixed(test_mixture());
  rank.all_reduce("data", 4 * 50e9);
  Job job = ring_job(rank.program, 2);
  Parts parts = parts_of(job);
  CHECK(parts.at("forward") == Approx(2).epsilon(1e-12));
  CHECK(parts.at("recompute") == Approx(1).epsilon(1e-12));
  CHECK(parts.at("launch") == Approx(0.5).epsilon(1e-12));
  CHECK(parts.at("exposed_all_gather") == Approx(1).epsilon(1e-12));
  CHECK(parts.size() == 4);

  SECTION("what a rank's stretch adds to all but communication is straggler wait") {
    for (RankInstance& instance : job.instances) instance.stretch = 1.2;
    parts = parts_of(job);
    CHECK(parts.at("forward") == Approx(2).epsilon(1e-12));
    CHECK(parts.at("launch") == Approx(0.5).epsilon(1e-12));
    CHECK(parts.at("exposed_all_gather") == Approx(1).epsilon(1e-12));
    CHECK(parts.at("straggler_wait") == Approx(0.2 * 3.5).epsilon(1e-12));
  }
}

TEST_CASE("a receiver that waits for its sender is a bubble") {
  // Stage 0 computes 2 s and sends 1 s; stage 1 receives and computes 3 s.
  TestProgram first("stage 0"), second("stage 1");
  first.send_receive("next", 50e9, {first.kernel(2)});
  second.kernel(3, {second.send_receive("next", 50e9)});
  Job job = ring_job(first.program, 2);
  job.programs.push_back(second.program);
  job.instances[1].program = 1;
  const Timeline timeline = replay(job, PlainPlanner());
  const Parts stage_0 = parts_of(job, timeline, 0), stage_1 = parts_of(job, timeline, 1);
  CHECK(stage_0.at("pipeline_bubble") == Approx(3).epsilon(1e-12));
  CHECK(stage_1.at("pipeline_bubble") == Approx(2).epsilon(1e-12));
  CHECK(stage_1.at("exposed_send_receive") == Approx(1).epsilon(1e-12));
}

TEST_CASE("an empty step has no parts") { CHECK(parts_of(lonely_job(Program())).empty()); }
