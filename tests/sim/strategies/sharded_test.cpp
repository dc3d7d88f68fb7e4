#include "sim/strategies/sharded.h"

#include <functional>

#include "base/error.h"
#include "sim/plan_names.h"
#include "tests/catch.h"
#include "tests/sim/strategies/sharded_step.h"

namespace foretrain::sim::strategies {
namespace {

Error error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  return Error("done");
}

// Parameters of the step's model in bytes of fp32.
double state(int products) { return 4 * products * product_parameters; }

TEST_CASE("what ZeRO-1 sends is what an all-reduce would, once per step") {
  // Gradients scattered once, parameters gathered once: 2Ψ(N−1)/N.
  const int ranks = GENERATE(2, 4, 8, 16), micro_batches = GENERATE(1, 3), ahead = GENERATE(0, 1);
  ShardedStep step(ranks, "zero1");
  step.micro_batches = micro_batches;
  step.set("overlap_parameter_gather", ahead);
  step.write();
  CHECK(wire_bytes(step, "data", ranks) == Approx(2 * state(6) * (ranks - 1) / ranks).epsilon(1e-12));
}

TEST_CASE("what ZeRO-2 sends grows with the micro-batches, as gradients are kept in parts") {
  const int ranks = GENERATE(2, 4, 8, 16), micro_batches = GENERATE(1, 3);
  ShardedStep step(ranks, "zero2");
  step.micro_batches = micro_batches;
  step.write();
  CHECK(wire_bytes(step, "data", ranks) ==
        Approx((micro_batches + 1) * state(6) * (ranks - 1) / ranks).epsilon(1e-12));
}

TEST_CASE("what ZeRO-3 sends is half as much again, in every micro-batch") {
  // Two gathers and one reduction of every unit, 3Ψ(N−1)/N; the root's parameters stay from forward to backward.
  const int ranks = GENERATE(2, 4, 8, 16), micro_batches = GENERATE(1, 3), blocks = GENERATE(0, 4);
  ShardedStep step(ranks, "zero3");
  step.micro_batches = micro_batches;
  if (blocks == 0) step.model = square_products(6);
  const double root = blocks == 0 ? 0 : state(2);
  step.write();
  CHECK(wire_bytes(step, "shard", ranks) ==
        Approx(micro_batches * (3 * state(6) - root) * (ranks - 1) / ranks).epsilon(1e-12));
}

TEST_CASE("what HSDP sends: ZeRO-3 in the shard group, an all-reduce of each rank's part between groups") {
  const int shard = GENERATE(2, 4, 8), replicas = GENERATE(2, 4);
  ShardedStep step(shard * replicas, "hsdp");
  step.model = square_products(6);
  step.scenario.plan.shard_group = shard;
  step.write();
  CHECK(wire_bytes(step, "shard", shard) == Approx(3 * state(6) * (shard - 1) / shard).epsilon(1e-12));
  CHECK(wire_bytes(step, "replica", replicas) ==
        Approx(2 * state(6) / shard * (replicas - 1) / replicas).epsilon(1e-12));
}

TEST_CASE("types on the wire: two bytes for parameters, what the stack says for gradients") {
  ShardedStep step(8, "zero3", 6, "pytorch-fsdp");
  step.model = square_products(6);
  step.scenario.training.precision = models::Precision::bf16;
  step.set("gradient_norm", 0);
  step.write();
  // Two gathers of two bytes and a reduction of four: 8 bytes per parameter instead of 12.
  CHECK(wire_bytes(step, "shard", 8) == Approx(8 * 6 * product_parameters * 7 / 8).epsilon(1e-12));
  step.scenario.training.precision = models::Precision::fp32;
  step.write();
  CHECK(wire_bytes(step, "shard", 8) == Approx(3 * state(6) * 7 / 8).epsilon(1e-12));
}

TEST_CASE("folded and unfolded steps agree, with tensor parallelism too") {
  const std::string sharding = GENERATE("zero1", "zero2", "zero3", "hsdp");
  const int gpus = GENERATE(4, 16, 24), tensor = GENERATE(1, 2);
  CAPTURE(sharding, gpus, tensor);
  ShardedStep one(gpus, sharding, 5), other(gpus, sharding, 5);
  for (ShardedStep* step : {&one, &other}) {
    step->scenario.plan.tensor = tensor;
    step->micro_batches = 2;
    step->set("gradient_norm", 1);
    if (sharding == "hsdp") step->scenario.plan.shard_group = 2;
  }
  CHECK(one.replayed(true) == Approx(other.replayed(false)).epsilon(1e-9));
  CHECK(one.instances < other.instances);
}

TEST_CASE("with tensor parallelism state is shared by the ranks that have the same part of the model") {
  ShardedStep step(16, "hsdp");
  step.scenario.plan.tensor = 2;
  step.scenario.plan.shard_group = 4;
  step.write();
  // Rank = tensor + 2 · data: a node of eight has four data-parallel ranks of each part.
  const Communicator& shard = step.communicators.at(0);
  const Communicator& replica = step.communicators.at(1);
  CHECK(shard.groups.front() == std::vector<int>{0, 2, 4, 6});
  CHECK(shard.groups.size() == 4);
  CHECK(replica.groups.front() == std::vector<int>{0, 8});
  CHECK(replica.groups.size() == 8);
}

TEST_CASE("the shard group of HSDP is a node's unless it is said") {
  const calibrate::Stack stack = studies::catalogue().stack("pytorch-ddp");
  Plan plan;
  plan.sharding = "hsdp";
  CHECK(shard_ranks(plan, stack, 32, 8) == 8);
  CHECK(shard_ranks(plan, stack, 4, 8) == 4);
  CHECK(shard_ranks(plan, stack, 1, 8) == 1);
  plan.tensor = 4;
  CHECK(shard_ranks(plan, stack, 8, 8) == 2);
  plan.shard_group = 4;
  CHECK(shard_ranks(plan, stack, 8, 8) == 4);
  plan.sharding = "zero3";
  CHECK(shard_ranks(plan, stack, 8, 8) == 8);
  plan.sharding = "none";
  CHECK(shard_ranks(plan, stack, 8, 8) == 1);
}

TEST_CASE("shard groups that do not divide the data-parallel ranks are refused with the nearest that do") {
  const calibrate::Stack stack = studies::catalogue().stack("pytorch-ddp");
  Plan plan;
  plan.sharding = "hsdp";
  plan.shard_group = 5;
  const Error uneven = error_of([&] { (void)shard_ranks(plan, stack, 24, 8); });
  CHECK(uneven.where() == "/plan/shard_group");
  CHECK(uneven.hint() == "the nearest groups have 4 and 6 ranks");
  plan.shard_group = 64;
  CHECK(error_of([&] { (void)shard_ranks(plan, stack, 24, 8); }).hint() == "the nearest group has 24 ranks");
  plan.shard_group = 0;
  plan.tensor = 8;  // one data-parallel rank per node shares with nobody
  CHECK(error_of([&] { (void)shard_ranks(plan, stack, 24, 8); }).hint() == "the nearest group has 2 ranks");
}

TEST_CASE("sharding that does not go with the rest of the scenario is refused, saying what does") {
  Scenario scenario;
  calibrate::Stack stack = studies::catalogue().stack("pytorch-ddp");
  const auto refused = [&](const std::string& sharding) {
    scenario.plan.sharding = sharding;
    return error_of([&] { require_known_sharding(scenario, stack); });
  };
  for (const std::string& name : sharding_names()) CHECK(std::string(refused(name).what()) == "done");
  CHECK(refused("zero4").where() == "/plan/sharding");
  CHECK(refused("zero4").hint().find("zero") != std::string::npos);

  scenario.plan.pipeline = 4;
  CHECK(std::string(refused("zero1").what()) == "done");
  for (const char* name : {"zero2", "zero3", "hsdp"}) {
    CHECK(refused(name).where() == "/plan/sharding");
    CHECK(refused(name).hint().find("zero1") != std::string::npos);
  }
  scenario.plan.pipeline = 1;

  for (const char* reducer : {"horovod", "parameter_server", "kvstore", "local_sgd", "mirrored"}) {
    scenario.stack.reducer = reducer;
    CHECK(refused("zero2").where() == "/plan/sharding");
    CHECK(refused("zero2").hint().find("ddp") != std::string::npos);
    CHECK(std::string(refused("none").what()) == "done");
  }
  scenario.stack.reducer.clear();
  scenario.stack.compression = "powersgd";
  CHECK(refused("zero3").hint().find("stack.compression") != std::string::npos);
  scenario.stack.compression = "none";

  stack = studies::catalogue().stack("pytorch-fsdp");
  CHECK(refused("zero2").hint().find("reshard_after_forward") != std::string::npos);
  CHECK(std::string(refused("").what()) == "done");  // its own way
}

TEST_CASE("gradients kept in parts cannot be left unreduced, unless the software can keep them whole instead") {
  Scenario scenario;
  scenario.plan.sharding = "zero3";
  for (const char* name : {"deepspeed", "pytorch-fsdp"}) {
    calibrate::Stack stack = studies::catalogue().stack(name);
    CHECK(keeps_gradients_in_parts(scenario.plan, stack));
    stack.values.at("synchronize_every_micro_batch").value = 0;
    stack.values.at("synchronize_every_micro_batch").provenance = Provenance::given;
    const bool fsdp = std::string(name) == "pytorch-fsdp";
    CHECK(keeps_gradients_in_parts(scenario.plan, stack) != fsdp);
    const Error error = error_of([&] { require_known_sharding(scenario, stack); });
    CHECK(error.where() == (fsdp ? "" : "/stack/options/synchronize_every_micro_batch"));
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
