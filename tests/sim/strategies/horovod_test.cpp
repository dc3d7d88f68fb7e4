#include "sim/strategies/horovod.h"

#include "sim/studies/predict.h"
#include "sim/studies/run.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double all = 4 * 2048.0 * 2048.0 * 4;  // four tensors of 16 MiB

Step horovod(int gpus, double cycle_seconds, double threshold) {
  Step step(gpus);
  step.scenario.stack.reducer = "horovod";
  step.set("cycle_seconds", cycle_seconds);
  step.set("negotiation_seconds", 100e-6);
  step.set("bucket_bytes", threshold);
  return step;
}

TEST_CASE("a cycle longer than backward fuses everything up to the threshold") {
  Step whole = horovod(8, 1, 1e9), split = horovod(8, 1, 40e6), alone = horovod(8, 1, 0);
  CHECK(calls(whole).size() == 1);
  CHECK(bytes_of(calls(whole)) == all);
  CHECK(calls(split).size() == 2);  // two of 16.8 MB fit into 40 MB, three do not
  CHECK(calls(alone).size() == 4);
  CHECK(bytes_of(calls(alone)) == all);
}

TEST_CASE("the wait for the cycle and the negotiation are the background thread's, not Python's") {
  Step step = horovod(8, 5e-3, 1e9), plain(8);
  step.replayed();
  plain.replayed();
  double python = 0, thread = 0, plain_python = 0;
  for (const Activity& activity : step.program.activities) {
    const std::string& name = step.program.streams[activity.stream].name;
    if (name == "host") python += activity.duration.time.value;
    if (name == "Horovod's background thread") thread += activity.duration.time.value;
  }
  for (const Activity& activity : plain.program.activities) {
    if (plain.program.streams[activity.stream].name == "host") plain_python += activity.duration.time.value;
  }
  const double launches = 3 * plain.stack.at("collective_launch_seconds").value;  // three buckets
  CHECK(python == Approx(plain_python - launches).epsilon(1e-9));
  CHECK(thread > 100e-6);
}

TEST_CASE("a longer cycle and a slower negotiation delay the end") {
  Step quick = horovod(8, 1e-4, 64e6), slow = horovod(8, 50e-3, 64e6);
  CHECK(slow.replayed().step_seconds > quick.replayed().step_seconds + 10e-3);
  // All handed over at the end of backward: one negotiation, 100 µs or 5 ms long.
  Step brief = horovod(8, 1e-4, 1e9), talkative = horovod(8, 1e-4, 1e9);
  brief.set("overlap", 0);
  talkative.set("overlap", 0);
  talkative.set("negotiation_seconds", 5e-3);
  CHECK(talkative.replayed().step_seconds - brief.replayed().step_seconds == Approx(4.9e-3).epsilon(1e-6));
}

TEST_CASE("a lone tensor is not copied into the fusion buffer") {
  Step alone = horovod(8, 1, 0), fused = horovod(8, 1, 1e9);
  CHECK(count(alone.composed().programs.front(), StreamKind::communication, "copy") == 0);
  CHECK(count(fused.composed().programs.front(), StreamKind::communication, "copy") == 2);
}

TEST_CASE("without overlap all tensors are handed over together at the end of backward") {
  Step step = horovod(8, 1e-5, 1e9);
  CHECK(calls(step).size() > 1);
  step.set("overlap", 0);
  CHECK(calls(step).size() == 1);
}

TEST_CASE("the optimizer is launched once all averages are there") {
  Step step = horovod(8, 1e-3, 1e9);
  const Timeline timeline = step.replayed();
  double last_collective = 0, first_launch = 1e9;
  for (std::size_t i = 0; i < step.program.activities.size(); ++i) {
    const Activity& activity = step.program.activities[i];
    const Span& span = timeline.spans[timeline.first_of[0] + i];
    if (activity.is_collective) last_collective = std::max(last_collective, span.finish);
    const bool update = step.program.labels[activity.label] == "adam update";
    if (update && step.program.streams[activity.stream].kind == StreamKind::host) first_launch = span.start;
  }
  CHECK(first_launch >= last_collective);
}

TEST_CASE("Horovod halves what travels with fp16, and levels it over nodes") {
  Step half = horovod(16, 1, 1e9);
  half.scenario.stack.compression = "fp16";
  half.set("hierarchical", 1);
  const std::vector<Call> made = calls(half);
  REQUIRE(made.size() == 3);
  CHECK(made[0].bytes == all / 2);
  CHECK(made[1].bytes == all / 2 / 8);
}

TEST_CASE("a step measured with Horovod is reproduced") {
  Scenario scenario = studies::scenario("resnet50", "Standard_ND96amsr_A100_v4", 16, 64, models::Precision::fp16);
  scenario.stack.name = "horovod-tensorflow1";
  scenario.cluster.inter_node_gbits_per_s = 25;
  scenario.cluster.network = "tcp";
  scenario.measured = {{scenario.cluster.machine, 16, 64, 0.25}};
  CHECK(studies::predict(scenario, studies::catalogue()).step_time.value == Approx(0.25).epsilon(1e-4));
}

TEST_CASE("a small network is fused into few reductions") {
  Scenario scenario = studies::scenario("resnet50", "Standard_ND96amsr_A100_v4", 8, 64, models::Precision::fp32);
  scenario.stack.reducer = "horovod";
  scenario.stack.options = {{"cycle_seconds", 5e-3}, {"bucket_bytes", 64 * 1024 * 1024.0}};
  ParameterTable parameters;
  const studies::Run run(scenario, studies::catalogue(), {}, {}, parameters);
  const std::vector<Call> made = calls(run.job().programs.front());
  CHECK(made.size() >= 2);   // 102 MB do not fit into 64 MiB
  CHECK(made.size() <= 12);  // 161 tensors, a backward pass of some 50 ms
  CHECK(bytes_of(made) == Approx(4 * models::parameter_count(run.model())).epsilon(1e-12));
}

}  // namespace
}  // namespace foretrain::sim::strategies
