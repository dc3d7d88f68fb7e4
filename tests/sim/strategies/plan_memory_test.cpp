#include "sim/strategies/plan_memory.h"

#include "base/error.h"
#include "sim/stack_choice.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {
namespace {

using models::Precision;
using studies::catalogue;

// A decoder of 8 layers of 512 features on 8 GPUs of a node, counted in tensors.
struct Small {
  Scenario scenario = studies::scenario("gpt2", "Standard_ND96amsr_A100_v4", 8, 2, Precision::bf16);

  explicit Small(const std::string& stack = "pytorch-ddp") {
    scenario.model.overrides = {{"layers", 8}, {"hidden", 512}, {"heads", 8}, {"feed_forward", 2048},
                                {"vocabulary", 1024}, {"sequence", 256}, {"positions", 256}};
    scenario.stack.name = stack;
    scenario.stack.options = {{"fragmentation_fraction", 0}, {"framework_memory_bytes", 0},
                              {"vocabulary_multiple", 1}};
  }
  [[nodiscard]] models::Model model() const {
    return build_workload(scenario, scenario.training.micro_batch, catalogue().data());
  }
  [[nodiscard]] double parameters() const { return models::parameter_count(model()); }
  [[nodiscard]] PlanMemory memory() const {
    return plan_memory(model(), scenario, chosen_stack(scenario.stack, catalogue()),
                       resolve_cluster(scenario.cluster, catalogue()));
  }
  [[nodiscard]] MemoryParts stage(std::size_t index) const { return memory().stages.at(index); }
};

// Of one layer: four square products of the attention, two of the feed-forward network of four times the width, their
// biases and two norms.
constexpr double layer_parameters = 12 * 512.0 * 512 + (4 + 5) * 512 + 4 * 512;

TEST_CASE("autocast holds fp32 weights with two-byte casts, fp32 gradients and Adam's two moments") {
  const Small small;
  const MemoryParts parts = small.stage(0);
  const double count = small.parameters();
  CHECK(parts.parameters.value == Approx(6 * count));
  CHECK(parts.gradients.value == Approx(4 * count));
  CHECK(parts.optimizer.value == Approx(8 * count));
}

TEST_CASE("two-byte weights have a main copy beside the moments") {
  const Small small("megatron");
  const MemoryParts parts = small.stage(0);
  const double count = small.parameters();
  CHECK(parts.parameters.value == Approx(2 * count));
  CHECK(parts.gradients.value == Approx(4 * count));
  CHECK(parts.optimizer.value == Approx(12 * count));
}

TEST_CASE("zero1, zero2 and zero3 divide optimizer state, gradients and parameters by the ranks") {
  Small small("deepspeed");  // 2 + 2 + 12 bytes per parameter
  const double count = small.parameters();
  CHECK(small.stage(0).optimizer.value == Approx(12 * count));
  small.scenario.plan.sharding = "zero1";
  CHECK(small.stage(0).optimizer.value == Approx(12 * count / 8));
  CHECK(small.stage(0).gradients.value == Approx(2 * count));
  small.scenario.plan.sharding = "zero2";
  CHECK(small.stage(0).gradients.value == Approx(2 * count / 8));
  CHECK(small.stage(0).parameters.value == Approx(2 * count));
  small.scenario.plan.sharding = "zero3";
  small.scenario.stack.options["gathers_in_flight"] = 2;
  // Everything but the layers is the root; three layers at most are gathered at once.
  const double root = count - 8 * layer_parameters;
  CHECK(small.stage(0).parameters.value == Approx(2 * count / 8 + 2 * (root + 3 * layer_parameters)));
  CHECK(small.stage(0).optimizer.value == Approx(12 * count / 8));
  CHECK(small.stage(0).buckets.value == Approx(2 * (root + layer_parameters)));
}

TEST_CASE("FSDP shards fp32 parameters, which are cast as they are gathered, hsdp shards within a group") {
  Small small("pytorch-fsdp");
  small.scenario.stack.options["reshard_after_forward"] = 0;
  const double count = small.parameters();
  CHECK(small.stage(0).parameters.value == Approx(4 * count / 8 + 2 * count));
  CHECK(small.stage(0).optimizer.value == Approx(8 * count / 8));
  CHECK(small.stage(0).gradients.value == Approx(4 * count / 8));
  small.scenario.plan.sharding = "hsdp";
  small.scenario.plan.shard_group = 4;
  CHECK(small.stage(0).optimizer.value == Approx(8 * count / 4));
}

TEST_CASE("one data-parallel rank shares nothing") {
  Small small("pytorch-fsdp");
  small.scenario.cluster.gpus = 1;
  CHECK(small.stage(0).optimizer.value == Approx(12 * small.parameters()));
  CHECK(small.stage(0).buckets.value == 0);
}

TEST_CASE("1f1b keeps as many micro-batches as stages follow, gpipe all of them") {
  Small small("megatron");
  small.scenario.plan.pipeline = 4;
  small.scenario.training.global_batch = 2 * 2 * 16;  // 16 micro-batches on each of 2 data-parallel ranks
  const PlanMemory memory = small.memory();
  REQUIRE(memory.stages.size() == 4);
  const double of_one = memory.stages[2].activations.value / 2;  // two layers, two micro-batches in flight
  CHECK(memory.stages[1].activations.value == Approx(3 * of_one));
  small.scenario.plan.schedule = "gpipe";
  CHECK(small.stage(1).activations.value == Approx(16 * of_one));
  CHECK(small.stage(2).activations.value == Approx(16 * of_one));
}

TEST_CASE("the last stage has the logits, the first the most micro-batches") {
  Small small("megatron");
  small.scenario.plan.pipeline = 4;
  small.scenario.training.global_batch = 2 * 2 * 16;
  const PlanMemory memory = small.memory();
  CHECK(memory.stages[0].logits.value == 0);
  // Softmax and logits of 2 × 256 tokens, two bytes each in both of their tensors.
  CHECK(memory.stages[3].logits.value == Approx(2 * 2 * 2 * 256 * 1024));
  for (const MemoryParts& parts : memory.stages) CHECK(parts.total() <= memory.of_fullest().total());
}

TEST_CASE("interleaving keeps (p − 1) / (p · v) more than 1f1b on the first stage") {
  Small small("megatron");
  small.scenario.plan.pipeline = 4;
  small.scenario.plan.interleave = 2;
  small.scenario.plan.schedule = "interleaved";
  small.scenario.training.global_batch = 2 * 2 * 16;
  Small plain = small;
  plain.scenario.plan.interleave = 1;
  plain.scenario.plan.schedule = "1f1b";
  // Stage 1 has no embedding: one layer in each of two chunks, 2·(4 − 1 − 1) + 4 + 1 passes of them in flight.
  CHECK(small.stage(1).activations.value / plain.stage(1).activations.value == Approx((2 * 2 + 4 + 1) / (2.0 * 3)));
}

TEST_CASE("zero-bubble H1 keeps what 1f1b does") {
  Small small("megatron");
  small.scenario.plan.pipeline = 4;
  small.scenario.training.global_batch = 2 * 2 * 16;
  const double plain = small.stage(0).activations.value;
  small.scenario.plan.schedule = "zb-h1";
  CHECK(small.stage(0).activations.value == Approx(plain));
}

TEST_CASE("full recompute keeps a layer's input, and brings one layer back at a time") {
  Small small("megatron");
  small.scenario.plan.recompute = "full";
  const MemoryParts parts = small.stage(0);
  const double input = 2 * 2 * 256 * 512;  // two bytes of 2 × 256 tokens of 512 features
  CHECK(parts.activations.value >= 8 * input);
  CHECK(parts.activations.value < 12 * input);  // and what stands outside the layers
  Small kept = small;
  kept.scenario.plan.recompute = "none";
  CHECK(parts.workspace > kept.stage(0).workspace);
  CHECK(parts.total() < kept.stage(0).total());
}

TEST_CASE("tensor parallelism divides the layers' state and activations") {
  Small small("megatron");
  small.scenario.plan.tensor = 8;
  Small alone = small;
  alone.scenario.plan.tensor = 1;
  const MemoryParts parts = small.stage(0), whole = alone.stage(0);
  CHECK(parts.optimizer < whole.optimizer / 7);
  CHECK(parts.activations < whole.activations / 2);
  small.scenario.plan.sequence_parallel = true;
  CHECK(small.stage(0).activations.value == Approx(whole.activations.value / 8).epsilon(1e-9));
}

TEST_CASE("plans that the GPUs cannot hold are errors") {
  Small small("megatron");
  small.scenario.plan.pipeline = 3;
  CHECK_THROWS_AS(small.memory(), Error);
}

}  // namespace
}  // namespace foretrain::sim::strategies
