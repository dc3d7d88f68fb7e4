#include "sim/strategies/sharded_state.h"

#include "tests/catch.h"
#include "tests/sim/strategies/sharded_step.h"

namespace foretrain::sim::strategies {
namespace {

// Six products, each in a bucket of its own; `bucket 6` has the first one's weights.
ShardedStep bucketed(const std::string& sharding, int gpus = 8) {
  ShardedStep step(gpus, sharding);
  step.set("first_bucket_bytes", 1);
  step.set("bucket_bytes", 1);
  return step;
}

TEST_CASE("each bucket is scattered when it is full, and the update waits for the last one") {
  ShardedStep step = bucketed("zero1");
  step.replayed();
  for (int b = 1; b <= 6; ++b) {
    const Span& scatter = step.span("reduce_scatter bucket " + std::to_string(b));
    CHECK(scatter.start >= step.span("dense" + std::to_string(6 - b) + " backward").finish);
    CHECK(step.span("adam update").start >= scatter.finish);
  }
  CHECK(step.span("reduce_scatter bucket 1").start < step.span("dense0 backward").start);
}

TEST_CASE("without overlap all buckets wait for the end of backward") {
  ShardedStep step = bucketed("zero1");
  step.set("overlap", 0);
  step.replayed();
  CHECK(step.span("reduce_scatter bucket 1").start >= step.span("dense0 backward").finish);
}

TEST_CASE("a rank updates its share of the parameters") {
  // 2048² · 6 parameters of 7 words through memory: the pass is large enough to take a sixteenth of the time.
  ShardedStep few = bucketed("zero1", 2), many = bucketed("zero1", 16);
  for (ShardedStep* step : {&few, &many}) step->set("fused_optimizer", 1);
  few.replayed();
  many.replayed();
  const double whole = few.span("adam update").finish - few.span("adam update").start;
  const double part = many.span("adam update").finish - many.span("adam update").start;
  CHECK(part < whole / 4);
  CHECK(part > whole / 16);
}

TEST_CASE("updated parameters are gathered after the update") {
  ShardedStep step = bucketed("zero1");
  const double seconds = step.replayed();
  for (int b = 1; b <= 6; ++b) {
    CHECK(step.span("all_gather parameters of bucket " + std::to_string(b)).start >= step.span("adam update").finish);
  }
  CHECK(step.span("all_gather parameters of bucket 1").finish == Approx(seconds).epsilon(1e-12));
}

TEST_CASE("or beside the next forward pass, where only the first bucket is waited for in full") {
  ShardedStep after = bucketed("zero1"), beside = bucketed("zero1");
  beside.set("overlap_parameter_gather", 1);
  CHECK(beside.replayed() < after.replayed());
  for (int i = 0; i < 6; ++i) {
    const Span& gather = beside.span("all_gather parameters of bucket " + std::to_string(6 - i));
    CHECK(beside.span("dense" + std::to_string(i) + " forward").start >= gather.finish);
    // One ahead: called before the operators of the bucket before it are launched.
    if (i > 0) CHECK(gather.start < beside.span("dense" + std::to_string(i - 1) + " forward").finish);
  }
}

TEST_CASE("parameters are gathered once per step, whatever the micro-batches") {
  ShardedStep step = bucketed("zero1");
  step.set("overlap_parameter_gather", 1);
  step.micro_batches = 3;
  step.write();
  CHECK(step.find("all_gather parameters of bucket 1").size() == 1);
  CHECK(step.find("reduce_scatter bucket 1").size() == 1);
}

TEST_CASE("ZeRO-2 adds parts of gradients, ZeRO-1 whole ones before it reduces them") {
  ShardedStep whole = bucketed("zero1"), parts = bucketed("zero2");
  for (ShardedStep* step : {&whole, &parts}) {
    step->micro_batches = 3;
    step->write();
  }
  CHECK(whole.find("dense3 gradient sum").size() == 2);
  CHECK(whole.find("add part of bucket 3").empty());
  CHECK(parts.find("dense3 gradient sum").empty());
  CHECK(parts.find("add part of bucket 3").size() == 2);
  CHECK(parts.find("copy part out of bucket 3").size() == 1);
  CHECK(parts.find("reduce_scatter bucket 3").size() == 3);
}

TEST_CASE("gradients that lie in the buckets are not copied") {
  ShardedStep step = bucketed("zero1");
  step.set("gradient_as_bucket_view", 1);
  step.write();
  CHECK(step.find("copy into bucket 1").empty());
  CHECK(step.find("copy part out of bucket 1").empty());
}

TEST_CASE("the norm of gradients that lie in parts is summed over the ranks before the update") {
  ShardedStep step = bucketed("zero1");
  step.set("gradient_norm", 1);
  step.replayed();
  const Span& sum = step.span("all_reduce of the gradients' norm");
  CHECK(sum.start >= step.span("gradient norm").finish);
  CHECK(step.span("adam update").start >= sum.finish);
}

}  // namespace
}  // namespace foretrain::sim::strategies
