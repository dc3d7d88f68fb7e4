// ShardedStateReducer: zero1 and zero2. Gradients travel in buckets, each summed up and handed out in parts as soon as
// it is full; every rank updates its part of the parameters, and all of them are gathered.
//
// Stack values: buckets, their copies and `overlap` as in bucketed.h, `overlap_parameter_gather`. Without the latter
// parameters are gathered after the update; with it, beside the forward pass of the next step, one bucket ahead of the
// one whose operators run (Megatron-Core, DistributedDataParallel with overlap_param_gather); the first bucket is waited
// for. zero2 keeps gradients in parts and so reduces every micro-batch, as DeepSpeed does (deepspeed/runtime/engine.py,
// allreduce_gradients: stage 2 communicates in every micro-batch, stage 1 at the end of accumulation).
#pragma once

#include <cstddef>
#include <vector>

#include "sim/strategies/buckets.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/sharded_calls.h"

namespace foretrain::sim::strategies {

class ShardedStateReducer final : public Reducer {
 public:
  ShardedStateReducer(StepWriter& writer, bool gradients_in_parts);
  [[nodiscard]] std::vector<Communicator> communicators() const override;
  void begin_micro_batch(bool first, bool reduces) override;
  [[nodiscard]] std::vector<ActivityIndex> before_forward(std::size_t index) override;
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;
  void after_last_update(ActivityIndex updated) override;
  [[nodiscard]] double updated_share() const override { return 1.0 / ranks_; }
  [[nodiscard]] bool reduces_every_micro_batch() const override;

 private:
  void scatter(std::size_t bucket, ActivityIndex gradients_done);
  ActivityIndex collect(std::size_t bucket, ActivityIndex scattered);
  // Buckets become full in backward order and are gathered in forward order, the last one first.
  void gather_next(const std::vector<ActivityIndex>& waits);

  StepWriter& writer_;
  Channel channel_;
  double ranks_;
  bool gradients_in_parts_;
  bool copies_;          // into and out of buckets
  bool gathers_beside_;  // the next step's forward pass
  double gradient_bytes_, parameter_bytes_;  // on the wire, per parameter
  std::vector<Bucket> buckets_;
  std::vector<bool> put_off_;
  // Of the step that goes on:
  bool first_ = true;                   // micro-batch
  std::vector<ActivityIndex> gathers_;  // in forward order
  std::size_t used_ = 0;                // of them, what the forward pass has reached
  std::size_t next_ = 0;                // the next bucket to become full
  struct Scattered {
    std::size_t bucket = 0;
    ActivityIndex done = 0;
  };
  std::vector<Scattered> scattered_;
  ActivityIndex last_gradients_ = 0;
};

}  // namespace foretrain::sim::strategies
