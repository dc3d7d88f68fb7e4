#include "sim/strategies/compose.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/statistics.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

TEST_CASE("a compute-bound step is its kernels, after the first launch") {
  Step step;
  for (const char* key : {"launch_forward", "launch_backward", "optimizer_launch"}) {
    step.stack.values.at(std::string("host_seconds_per_") + key).value = 1e-9;
  }
  const Timeline timeline = step.replayed();
  const double first_kernel = step.stack.at("host_seconds_per_step").value + 1e-9;
  CHECK(timeline.step_seconds == Approx(first_kernel + step.sum_of(StreamKind::compute)).epsilon(1e-9));
}

TEST_CASE("a host-bound step is its launches, and the last kernel") {
  Step step;
  for (const char* key : {"forward", "backward"}) {
    step.stack.values.at(std::string("host_seconds_per_launch_") + key).value = 10e-3;
  }
  step.stack.values.at("host_seconds_per_optimizer_launch").value = 5e-3;
  const Timeline timeline = step.replayed();
  const double last_kernel = step.program.activities.back().duration.time.value;
  CHECK(timeline.step_seconds == Approx(step.sum_of(StreamKind::host) + last_kernel).epsilon(1e-9));
  // Overhead; 4 products forward and backward; adam in foreach form, 7 operations of one launch each.
  const double launches = 4 * 1 + 4 * 2, of_optimizer = 7;
  CHECK(step.sum_of(StreamKind::host) == Approx(2e-3 + launches * 10e-3 + of_optimizer * 5e-3).epsilon(1e-9));
}

TEST_CASE("one GPU communicates nothing") {
  Step step;
  const Composed composed = step.composed();
  REQUIRE(composed.programs.size() == 1);
  CHECK(composed.programs[0].communicators.empty());
  for (const Activity& activity : composed.programs[0].activities) CHECK_FALSE(activity.is_collective);
  CHECK(composed.placement.communicators.empty());
  CHECK(composed.placement.stretch_of_rank == std::vector<double>{1.0});
}

TEST_CASE("every gradient is reduced once, in the bytes the stack sends") {
  for (const double bytes_per_parameter : {4.0, 2.0}) {
    Step step(8);
    step.stack.values.at("gradient_bytes_per_parameter").value = bytes_per_parameter;
    const Composed composed = step.composed();
    double bytes = 0;
    int buckets = 0;
    for (const Activity& activity : composed.programs[0].activities) {
      if (!activity.is_collective) continue;
      bytes += activity.bytes.value;
      ++buckets;
    }
    CHECK(bytes == 4 * 2048.0 * 2048.0 * bytes_per_parameter);
    CHECK(buckets == 3);  // each tensor has 16 MiB: the first fills the first bucket, then 32 MiB, then the last
  }
}

TEST_CASE("with overlap all-reduces run beside backward, without it after") {
  const auto first_start = [](double overlap) {
    Step step(8);
    step.stack.values.at("overlap").value = overlap;
    const Timeline timeline = step.replayed();
    double backward_end = 0, first = 1e9;
    for (std::size_t i = 0; i < step.program.activities.size(); ++i) {
      const Activity& activity = step.program.activities[i];
      const Span& span = timeline.spans[timeline.first_of[0] + i];
      if (activity.is_collective) first = std::min(first, span.start);
      const std::string& label = step.program.labels[activity.label];
      if (label == "dense0 backward" && step.program.streams[activity.stream].kind == StreamKind::compute) {
        backward_end = span.finish;
      }
    }
    return std::make_pair(first, backward_end);
  };
  const auto [early, end_with] = first_start(1);
  CHECK(early < end_with);
  const auto [late, end_without] = first_start(0);
  CHECK(late >= end_without);
}

TEST_CASE("long accumulation written as an aggregate takes as long as written out") {
  const double launch = GENERATE(1e-9, 200e-6, 1e-3);  // compute-bound, about balanced, host-bound
  const auto seconds = [&](std::int64_t explicit_micro_batches) {
    Step step;
    step.scenario.training.global_batch = 24;
    step.explicit_micro_batches = explicit_micro_batches;
    step.stack.values.at("host_seconds_per_launch_forward").value = launch;
    step.stack.values.at("host_seconds_per_launch_backward").value = launch;
    return step.replayed().step_seconds;
  };
  CHECK(seconds(4) == Approx(seconds(24)).epsilon(1e-3));
}

TEST_CASE("accumulation repeats the layers, not the optimizer nor the all-reduce") {
  Step step(8);
  step.scenario.training.global_batch = 8 * 3;
  const Composed composed = step.composed();
  int forward = 0, updates = 0, reduced = 0;
  const Program& program = composed.programs[0];
  for (const Activity& activity : program.activities) {
    const std::string& label = program.labels[activity.label];
    const bool on_device = program.streams[activity.stream].kind == StreamKind::compute;
    forward += on_device && label == "dense2 forward";
    updates += on_device && label == "adam update";
    reduced += activity.is_collective;
  }
  CHECK(forward == 3);
  CHECK(updates == 1);
  CHECK(reduced == 3);
}

TEST_CASE("autocast casts the weights of products, there and back") {
  Step step;
  step.scenario.training.precision = models::Precision::fp16;
  const Composed composed = step.composed();
  int casts = 0;
  for (const Activity& activity : composed.programs[0].activities) {
    const std::string& label = composed.programs[0].labels[activity.label];
    if (composed.programs[0].streams[activity.stream].kind != StreamKind::compute) continue;
    casts += label.find("weight cast") != std::string::npos || label.find("gradient cast") != std::string::npos;
  }
  CHECK(casts == 4 * 2);
}

TEST_CASE("jitter is the expected maximum over the ranks, and grows with nodes") {
  Step step(16);  // two nodes
  const Composed composed = step.composed();
  const Cluster cluster = resolve_cluster(step.scenario.cluster, studies::catalogue());
  const double expected = 1 + step.stack.at("distributed_compute_slowdown").value +
                          step.stack.at("step_jitter").value * expected_normal_maximum(16) +
                          cluster.network->time_jitter_per_doubling * 1;  // log2 of two nodes
  CHECK(composed.placement.stretch_of_rank.at(5) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("a straggler is one rank of its own class") {
  Step step(8);
  step.scenario.cluster.straggler_slowdown = 1.5;
  const Composed composed = step.composed();
  CHECK(std::count(composed.placement.class_of_rank.begin(), composed.placement.class_of_rank.end(), 1) == 1);
  CHECK(composed.placement.stretch_of_rank.back() ==
        Approx(1.5 * composed.placement.stretch_of_rank.front()).epsilon(1e-12));
  Step even(8);
  CHECK(step.replayed().step_seconds > even.replayed().step_seconds);
}

TEST_CASE("the step is the longer of work and input") {
  Step without;
  const double work = without.replayed().step_seconds;
  Step slow;
  slow.scenario.input.samples_per_s_per_node = 1 / (3 * work);  // one sample takes three steps
  CHECK(slow.replayed().step_seconds == Approx(3 * work).epsilon(1e-9));
  Step fast;
  fast.scenario.input.samples_per_s_per_node = 1e9;
  CHECK(fast.replayed().step_seconds == Approx(work).epsilon(1e-9));
}

TEST_CASE("a node feeds its own GPUs, storage feeds all") {
  Step step(16);
  step.scenario.input.samples_per_s_per_node = 0.5;  // 8 samples per node and step: 16 s
  CHECK(step.replayed().step_seconds == Approx(16).epsilon(1e-9));
  Step stored(16);
  stored.scenario.input.storage_gbytes_per_s = 0.001;  // 16 samples of 1 MB per step: 16 s
  stored.scenario.input.dataset_bytes = 1e9;
  stored.scenario.training.dataset_samples = 1000;
  CHECK(stored.replayed().step_seconds == Approx(16).epsilon(1e-9));
  Step unsized(16);
  unsized.scenario.input.storage_gbytes_per_s = 1;
  CHECK_THROWS_AS(unsized.composed(), Error);
}

TEST_CASE("plans that this version does not know are refused, never ignored") {
  const auto refused = [](const char* where, auto change) {
    Step step(8);
    change(step.scenario.plan);
    try {
      static_cast<void>(step.composed());
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("not supported yet by this version") != std::string::npos);
      CHECK(error.code() == ExitCode::usage);
      return error.where() == where;
    }
    return false;
  };
  CHECK(refused("/plan/context", [](Plan& plan) { plan.context = 2; }));
  CHECK(refused("/plan/expert", [](Plan& plan) { plan.expert = 2; }));
  const auto unknown = [](const char* where, auto change) {
    Step step(8);
    change(step.scenario.plan);
    try {
      static_cast<void>(step.composed());
    } catch (const Error& error) {
      return error.where() == where;
    }
    return false;
  };
  CHECK(unknown("/plan/tensor", [](Plan& plan) { plan.tensor = 2; }));  // products without a part for each rank
  CHECK(unknown("/plan/sharding", [](Plan& plan) { plan.sharding = "zero4"; }));
  CHECK(unknown("/plan/recompute", [](Plan& plan) { plan.recompute = "some"; }));
}

}  // namespace
}  // namespace foretrain::sim::strategies
