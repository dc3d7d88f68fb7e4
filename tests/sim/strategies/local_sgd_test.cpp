#include "sim/strategies/local_sgd.h"

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double all = 4 * 2048.0 * 2048.0 * 4;

Step rounds(int gpus, int local_steps) {
  Step step(gpus);
  step.scenario.stack.reducer = "local_sgd";
  step.scenario.training.global_batch = static_cast<std::int64_t>(gpus) * local_steps;
  return step;
}

TEST_CASE("a round of H local steps averages parameters once: 1/H of the traffic per sample") {
  for (const int local_steps : {1, 4, 16}) {
    Step step = rounds(8, local_steps);
    const std::vector<Call> made = calls(step);
    REQUIRE(made.size() == 1);
    CHECK(made[0].label == "all-reduce parameters");
    CHECK(made[0].bytes == all);
  }
}

TEST_CASE("every local step updates and none adds gradients up") {
  Step step = rounds(8, 5);
  const Program program = step.composed().programs.front();
  CHECK(count(program, StreamKind::compute, "adam update") == 5);
  CHECK(count(program, StreamKind::compute, "dense2 forward") == 5);
  CHECK(count(program, StreamKind::compute, "dense2 gradient sum") == 0);
}

TEST_CASE("one GPU takes the same local steps") {
  Step step = rounds(1, 5);
  const Program program = step.composed().programs.front();
  CHECK(count(program, StreamKind::compute, "adam update") == 5);
  CHECK(calls(program).empty());
}

TEST_CASE("parameters are averaged after the last update, and the step ends with them") {
  Step step = rounds(8, 3);
  const Timeline timeline = step.replayed();
  double update = 0, reduced = 0;
  for (std::size_t i = 0; i < step.program.activities.size(); ++i) {
    const Span& span = timeline.spans[timeline.first_of[0] + i];
    if (step.program.labels[step.program.activities[i].label] == "adam update") update = span.finish;
    if (step.program.activities[i].is_collective) reduced = span.start;
  }
  CHECK(reduced >= update);
  CHECK(step.program.labels[step.program.activities.back().label] == "copy parameters back");
}

TEST_CASE("local SGD hides a slow network the better the longer its rounds") {
  const auto seconds_per_step = [](int local_steps) {
    Step step = rounds(16, local_steps);
    step.scenario.cluster.inter_node_gbits_per_s = 10;
    step.scenario.cluster.network = "tcp";
    return step.replayed().step_seconds / local_steps;
  };
  CHECK(seconds_per_step(2) < 0.7 * seconds_per_step(1));
  CHECK(seconds_per_step(8) < 0.7 * seconds_per_step(2));
}

TEST_CASE("parameters are not compressed") {
  Step step = rounds(8, 2);
  step.scenario.stack.compression = "fp16";
  try {
    step.composed();
    FAIL("composed");
  } catch (const Error& error) {
    CHECK(error.where() == "/stack/compression");
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
