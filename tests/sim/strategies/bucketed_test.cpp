#include "sim/strategies/bucketed.h"

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double all = 4 * 2048.0 * 2048.0 * 4;  // four tensors of 16 MiB

TEST_CASE("gradients that lie in the buckets are not copied") {
  Step copied(8), viewed(8);
  viewed.set("gradient_as_bucket_view", 1);
  CHECK(count(copied.composed().programs.front(), StreamKind::compute, "copy") == 2 * 3);
  CHECK(count(viewed.composed().programs.front(), StreamKind::compute, "copy") == 0);
  CHECK(viewed.replayed().step_seconds < copied.replayed().step_seconds);
}

TEST_CASE("without no_sync every micro-batch is reduced") {
  Step once(8), always(8);
  once.scenario.training.global_batch = always.scenario.training.global_batch = 8 * 6;
  always.set("synchronize_every_micro_batch", 1);
  const std::vector<Call> last_only = calls(once), every = calls(always);
  CHECK(bytes_of(last_only) == all);
  CHECK(bytes_of(every) == 6 * all);
  CHECK(every.size() == 6 * last_only.size());
  CHECK(always.replayed().step_seconds > once.replayed().step_seconds);
}

TEST_CASE("a micro-batch without no_sync begins after the reduction of the one before") {
  Step step(8);
  step.scenario.training.global_batch = 8 * 2;
  step.set("synchronize_every_micro_batch", 1);
  step.set("gradient_as_bucket_view", 1);
  const Timeline timeline = step.replayed();
  double reduced = 0, second_forward = 0;
  int collectives = 0;
  for (std::size_t i = 0; i < step.program.activities.size(); ++i) {
    const Activity& activity = step.program.activities[i];
    const Span& span = timeline.spans[timeline.first_of[0] + i];
    if (activity.is_collective && ++collectives == 3) reduced = span.finish;
    if (step.program.labels[activity.label] == "dense0 forward") second_forward = span.start;
  }
  CHECK(second_forward >= reduced);
}

TEST_CASE("absurdly many micro-batches that cannot be aggregated are refused with the number that is possible") {
  Step step(8);
  step.set("synchronize_every_micro_batch", 1);
  step.scenario.training.global_batch = 8LL * 10'000'000;
  try {
    step.composed();
    FAIL("composed");
  } catch (const Error& error) {
    CHECK(error.where() == "/training/global_batch");
    CHECK(error.hint().find("at most") == 0);
  }
}

TEST_CASE("the search for unused parameters costs the host a walk and the ranks a map") {
  Step plain(8), searching(8), fixed(8);
  searching.set("find_unused_parameters", 1);
  fixed.set("find_unused_parameters", 1);
  fixed.set("static_graph", 1);
  const std::vector<Call> made = calls(searching);
  CHECK(made.back().label == "all-reduce map of used parameters");
  CHECK(made.back().bytes == 4 * 4);  // four tensors
  const double without = plain.replayed().step_seconds;
  const double walk = 4 * plain.stack.at("host_seconds_per_launch_backward").value;
  const double plain_host = plain.sum_of(StreamKind::host);
  const double with = searching.replayed().step_seconds;
  CHECK(with > without);
  CHECK(searching.sum_of(StreamKind::host) ==
        Approx(plain_host + walk + plain.stack.at("collective_launch_seconds").value).epsilon(1e-9));
  CHECK(fixed.replayed().step_seconds == Approx(without).epsilon(1e-12));
}

TEST_CASE("a share of the buckets' bytes waits for the end of backward") {
  // Buckets of one tensor each; half of them waits.
  Step step(8);
  step.set("first_bucket_bytes", 1);
  step.set("bucket_bytes", 1);
  step.set("overlap", 0.5);
  const std::vector<Call> made = calls(step);
  REQUIRE(made.size() == 4);
  CHECK(made[0].label == "all-reduce bucket 1");
  CHECK(made[1].label == "all-reduce bucket 3");
  CHECK(made[2].label == "all-reduce bucket 2");
  CHECK(made[3].label == "all-reduce bucket 4");
  const auto seconds = [](double overlap) {
    Step other(16);
    other.set("first_bucket_bytes", 1);
    other.set("bucket_bytes", 1);
    other.set("overlap", overlap);
    return other.replayed().step_seconds;
  };
  CHECK(seconds(1) < seconds(0.5));
  CHECK(seconds(0.5) < seconds(0));
}

TEST_CASE("further GPUs of a node add to the host's time, as many as are in use") {
  const auto host = [](int gpus, double per_gpu) {
    Step step(gpus);
    step.set("distributed_host_seconds_per_local_gpu", per_gpu);
    step.replayed();
    return step.sum_of(StreamKind::host);
  };
  CHECK(host(4, 1e-3) - host(4, 0) == Approx(3e-3).epsilon(1e-9));
  CHECK(host(16, 1e-3) - host(16, 0) == Approx(7e-3).epsilon(1e-9));  // eight per node
  CHECK(host(1, 1e-3) == host(1, 0));
}

TEST_CASE("TensorFlow's mirrored strategies pack gradients, all into one without a size") {
  Step step(8);
  step.scenario.stack.reducer = "mirrored";
  step.set("bucket_bytes", 33e6);
  CHECK(calls(step).size() == 2);  // 16 MiB do not fill a pack, 32 MiB = 33.6 MB do
  step.set("bucket_bytes", 0);
  CHECK(calls(step).size() == 1);
  step.scenario.stack.reducer = "multi_worker_mirrored";
  CHECK(calls(step).size() == 1);
}

TEST_CASE("MirroredStrategy stays in one node") {
  Step step(16);
  step.scenario.stack.reducer = "mirrored";
  try {
    step.composed();
    FAIL("composed");
  } catch (const Error& error) {
    CHECK(error.where() == "/stack/reducer");
    CHECK(error.hint().find("multi_worker_mirrored") != std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
