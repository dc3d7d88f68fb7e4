#include "sim/strategies/sharded_units.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/sim/strategies/sharded_step.h"

namespace foretrain::sim::strategies {
namespace {

// dense0 and dense7 are the root, dense1 to dense6 units.
constexpr int products = 8;
ShardedStep units(int gpus = 8) { return {gpus, "zero3", products}; }

std::string gather_of(int block) { return "all_gather parameters of dense" + std::to_string(block); }
std::string reduction_of(int block) { return "reduce_scatter gradients of dense" + std::to_string(block); }
std::string forward_of(int block) { return "dense" + std::to_string(block) + " forward"; }
std::string backward_of(int block) { return "dense" + std::to_string(block) + " backward"; }

TEST_CASE("nothing of a unit runs before its parameters are there") {
  const int prefetched = GENERATE(0, 1, 3), most = GENERATE(1, 2, 8), gpus = GENERATE(2, 8, 16);
  ShardedStep step = units(gpus);
  step.set("prefetched_units", prefetched);
  step.set("gathers_in_flight", most);
  step.micro_batches = 2;
  step.replayed();
  for (std::size_t m = 0; m < 2; ++m) {
    CHECK(step.span("dense0 forward", m).start >= step.span("all_gather parameters of root", m).finish);
    for (int block = 1; block <= 6; ++block) {
      CHECK(step.span(forward_of(block), m).start >= step.span(gather_of(block), 2 * m).finish);
      CHECK(step.span(backward_of(block), m).start >= step.span(gather_of(block), 2 * m + 1).finish);
      CHECK(step.span(reduction_of(block), m).start >= step.span(backward_of(block), m).finish);
    }
  }
}

TEST_CASE("no more units are gathered than may wait, beside the one in use") {
  const int prefetched = GENERATE(0, 1, 3), most = GENERATE(1, 2, 3);
  ShardedStep step = units();
  step.set("prefetched_units", prefetched);
  step.set("gathers_in_flight", most);
  step.replayed();
  struct Held {
    double from, to;
  };
  std::vector<Held> held;
  for (int block = 1; block <= 6; ++block) {
    held.push_back({step.span(gather_of(block), 0).start, step.span(forward_of(block)).finish});
    held.push_back({step.span(gather_of(block), 1).start, step.span(backward_of(block)).finish});
  }
  for (const Held& unit : held) {
    const auto at_once = std::count_if(held.begin(), held.end(), [&](const Held& other) {
      return other.from <= unit.from && unit.from < other.to - 1e-12;
    });
    CHECK(at_once <= most + 1);
  }
}

TEST_CASE("asking ahead never costs time, and neither does room for more gathered units") {
  const int gpus = GENERATE(2, 8, 16, 32), most = GENERATE(1, 2, 4);
  const auto seconds = [&](int prefetched, int in_flight) {
    ShardedStep step = units(gpus);
    step.set("prefetched_units", prefetched);
    step.set("gathers_in_flight", in_flight);
    step.micro_batches = 2;
    return step.replayed();
  };
  CHECK(seconds(0, most) >= seconds(1, most) * (1 - 1e-9));
  CHECK(seconds(1, most) >= seconds(2, most) * (1 - 1e-9));
  CHECK(seconds(1, 1) >= seconds(1, 2) * (1 - 1e-9));
  CHECK(seconds(0, 1) >= seconds(0, 2) * (1 - 1e-9));
}

TEST_CASE("without asking ahead a gather in backward queues behind the reduction of the unit before it") {
  ShardedStep none = units(16), one = units(16);
  none.set("prefetched_units", 0);
  one.set("prefetched_units", 1);
  const double slow = none.replayed(), fast = one.replayed();
  CHECK(slow > fast);
  for (int block = 1; block < 6; ++block) {
    CHECK(none.span(gather_of(block), 1).start >= none.span(reduction_of(block + 1)).finish);
    CHECK(one.span(gather_of(block), 1).finish <= one.span(reduction_of(block + 1)).start);
  }
}

TEST_CASE("in forward the next gather overlaps the unit in use even so") {
  ShardedStep step = units(2);
  step.set("prefetched_units", 0);
  step.replayed();
  for (int block = 2; block <= 6; ++block) {
    CHECK(step.span(gather_of(block)).start < step.span(forward_of(block - 1)).finish);
  }
}

TEST_CASE("a blocking gather begins when the unit in use is done, in forward and in backward") {
  ShardedStep free = units(2), blocking = units(2);
  for (ShardedStep* step : {&free, &blocking}) step->set("prefetched_units", 0);
  blocking.set("blocking_gathers", 1);
  CHECK(blocking.replayed() > free.replayed());
  for (int block = 2; block <= 6; ++block) {
    CHECK(blocking.span(gather_of(block)).start >= blocking.span(forward_of(block - 1)).finish);
  }
  for (int block = 1; block < 6; ++block) {
    CHECK(blocking.span(gather_of(block), 1).start >= blocking.span(reduction_of(block + 1)).finish);
  }
}

TEST_CASE("parameters that stay after forward are gathered once per micro-batch") {
  ShardedStep step = units();
  step.set("reshard_after_forward", 0);
  step.micro_batches = 2;
  step.write();
  for (int block = 1; block <= 6; ++block) CHECK(step.find(gather_of(block)).size() == 2);
  // One gather and one reduction of everything: 2Ψ(N−1)/N per micro-batch.
  CHECK(wire_bytes(step, "shard", 8) == Approx(2 * 2 * 4 * products * product_parameters * 7 / 8).epsilon(1e-12));
}

TEST_CASE("units that are computed again are gathered once for that and for backward") {
  ShardedStep step = units();
  step.segments = {RecomputeSegment{}};
  step.replayed();
  for (int block = 1; block <= 6; ++block) {
    REQUIRE(step.find(gather_of(block)).size() == 2);
    REQUIRE(step.find(forward_of(block)).size() == 2);
    CHECK(step.span(forward_of(block), 1).start >= step.span(gather_of(block), 1).finish);
  }
}

TEST_CASE("frozen units are gathered, and have no gradients") {
  ShardedStep step = units();
  models::Operator& frozen = step.model.layers[2].operators[0];
  frozen.parameters.swap(frozen.frozen_parameters);
  models::Operator& forward_only = step.model.layers[1].operators[0];
  forward_only.parameters.swap(forward_only.frozen_parameters);
  forward_only.forward_only = true;
  step.replayed();
  CHECK(step.find(gather_of(2)).size() == 2);  // gradients of activations cross it
  CHECK(step.find(reduction_of(2)).empty());
  CHECK(step.find(gather_of(1)).size() == 1);
}

TEST_CASE("FSDP under no_sync gathers in every micro-batch and reduces in the last one") {
  ShardedStep step(8, "zero3", products, "pytorch-fsdp");
  step.set("synchronize_every_micro_batch", 0);
  step.micro_batches = 3;
  step.write();
  CHECK(step.find(gather_of(3)).size() == 2 * 3);
  CHECK(step.find(reduction_of(3)).size() == 1);
  CHECK(step.find("dense3 gradient sum").size() == 2);
  CHECK(step.find("add parts of gradients").empty());
  step.set("synchronize_every_micro_batch", 1);
  step.write();
  CHECK(step.find(reduction_of(3)).size() == 3);
  CHECK(step.find("dense3 gradient sum").empty());
  CHECK(step.find("add parts of gradients").size() == 2);
}

TEST_CASE("HSDP averages between its groups on a stream of its own, after the reduction inside them") {
  ShardedStep step(16, "hsdp", products);
  step.replayed();
  for (int block = 1; block <= 6; ++block) {
    const std::string average = "all_reduce gradients of dense" + std::to_string(block);
    CHECK(step.span(average).start >= step.span(reduction_of(block)).finish);
    CHECK(step.span("adam update").start >= step.span(average).finish);
  }
  const std::size_t average = step.find("all_reduce gradients of dense3").front();
  const std::size_t reduction = step.find(reduction_of(3)).front();
  CHECK(step.program.activities[average].stream != step.program.activities[reduction].stream);
}

TEST_CASE("FSDP casts its part before every gather instead of writing weights in the update") {
  ShardedStep fsdp(8, "zero3", products, "pytorch-fsdp"), deepspeed(8, "zero3", products, "deepspeed");
  for (ShardedStep* step : {&fsdp, &deepspeed}) {
    step->scenario.training.precision = models::Precision::bf16;
    step->replayed();
  }
  REQUIRE(fsdp.find("cast parameters of dense3").size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(fsdp.span(gather_of(3), i).start >= fsdp.span("cast parameters of dense3", i).finish);
  }
  CHECK(fsdp.find("copy main parameters to the weights").empty());
  CHECK(deepspeed.find("cast parameters of dense3").empty());
  CHECK(deepspeed.find("copy main parameters to the weights").size() == 1);
}

TEST_CASE("groups of all ranks are plain ZeRO-3") {
  ShardedStep hybrid(8, "hsdp", products), plain = units();
  CHECK(hybrid.replayed() == Approx(plain.replayed()).epsilon(1e-12));
}

TEST_CASE("tables spread over the ranks are nobody's unit") {
  ShardedStep step = units();
  step.scenario.plan.tables = "sharded";
  step.model.layers[3].operators[0].often_sharded = true;
  step.write();
  CHECK(step.find(gather_of(3)).empty());
  CHECK(step.find(reduction_of(3)).empty());
}

}  // namespace
}  // namespace foretrain::sim::strategies
