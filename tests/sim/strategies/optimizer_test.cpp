#include "sim/strategies/optimizer.h"

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/strategies/sharded_step.h"

namespace foretrain::sim::strategies {
namespace {

TEST_CASE("optimizer passes are those of the formulas") {
  CHECK(optimizer_passes("adam", true).words == 7);  // reads g, p, m, v; writes p, m, v
  CHECK(optimizer_passes("sgd", true).words == 5);   // reads g, p, m; writes p, m
  CHECK(optimizer_passes("adamw", false).words - optimizer_passes("adam", false).words == 2);  // p = p · (1 - decay)
  for (const char* name : {"sgd", "adam", "adamw", "lamb"}) {
    CHECK(optimizer_passes(name, true).words < optimizer_passes(name, false).words);
  }
  CHECK_THROWS_AS(optimizer_passes("adamm", true), Error);
}

TEST_CASE("foreach launches follow tensors or chunks, whichever are more") {
  CHECK(foreach_launches(1, 1000) == 1);
  CHECK(foreach_launches(161, 25.6e6) == 5);  // 161 / 36 = 4.5; 391 chunks / 320 = 1.2
  CHECK(foreach_launches(10, 340e6) == 17);   // 5188 chunks / 320 = 16.2
}

// Passes of an update over a step's parameters: what each is called, and how many bytes of a parameter it moves.
struct UpdatePass {
  std::string name;
  double bytes;
};

// Six products' parameters, of which each of eight ranks updates an eighth.
void check_passes(ShardedStep& step, const std::vector<UpdatePass>& expected) {
  step.write();
  const Cluster cluster = resolve_cluster(step.scenario.cluster, studies::catalogue());
  const calibrate::OperatorClock clock(*cluster.device, step.scenario.training.precision, {2, 0}, step.parameters);
  std::vector<const Activity*> passes;
  for (const Activity& activity : step.program.activities) {
    if (activity.category == Category::optimizer) passes.push_back(&activity);
  }
  REQUIRE(passes.size() == expected.size());
  for (std::size_t i = 0; i < passes.size(); ++i) {
    CHECK(step.program.labels[passes[i]->label] == expected[i].name);
    const Bytes moved(6 * product_parameters / 8 * expected[i].bytes);
    CHECK(passes[i]->duration.time.value == Approx(clock.memory_pass(moved).duration.time.value).epsilon(1e-12));
  }
}

TEST_CASE("in fp32 there is the update alone: 7 words fused, 18 by one kernel for each operation") {
  ShardedStep step(8, "zero1");
  check_passes(step, {{"adam update", 18 * 4}});
  step.set("fused_optimizer", 1);
  check_passes(step, {{"adam update", 7 * 4}});
}

TEST_CASE("weights in two bytes: gradients come from and parameters go to a main copy in four") {
  ShardedStep step(8, "zero1", 6, "deepspeed");
  step.scenario.training.precision = models::Precision::bf16;
  check_passes(step, {{"copy gradients to the main ones", 2 + 4},
                      {"gradient norm", 4},
                      {"scale gradients by their norm", 4 + 4},
                      {"adam update", 7 * 4},
                      {"copy main parameters to the weights", 4 + 2}});
  // Megatron-Core keeps gradients in four bytes.
  step.stack = studies::catalogue().stack("megatron-core");
  check_passes(step, {{"gradient norm", 4},
                      {"scale gradients by their norm", 4 + 4},
                      {"adam update", 7 * 4},
                      {"copy main parameters to the weights", 4 + 2}});
}

TEST_CASE("under fp16 gradients are unscaled, and the host reads whether they overflow") {
  ShardedStep step(8, "zero1");
  step.scenario.training.precision = models::Precision::fp16;
  step.set("fused_optimizer", 1);
  check_passes(step, {{"unscale gradients", 4 + 4}, {"adam update", 7 * 4}});
  CHECK(count(step.program, StreamKind::host, "read overflow flag") == 1);
}

TEST_CASE("the norm is summed over ranks that have other gradients, and over no others") {
  const auto sums = [](const char* sharding, int tensor) {
    ShardedStep step(8, "zero1");
    step.set("gradient_norm", 1);
    step.scenario.plan.sharding = sharding;
    step.scenario.plan.tensor = tensor;
    step.write();
    std::vector<std::string> over;
    for (const Call& call : calls(step.program)) {
      if (call.label == "all_reduce of the gradients' norm") over.push_back(call.communicator);
    }
    return over;
  };
  CHECK(sums("zero1", 1) == std::vector<std::string>{"data"});
  CHECK(sums("zero3", 2) == std::vector<std::string>{"data", "tensor"});
  Step replicated(8);
  replicated.set("gradient_norm", 1);
  for (const Call& call : calls(replicated)) CHECK(call.label.find("norm") == std::string::npos);
}

}  // namespace
}  // namespace foretrain::sim::strategies
