// BucketedReducer: gradients are collected in buckets, each averaged as soon as it is full, while backward goes on.
//
// One reducer under several names, which differ in how the buckets are cut and otherwise in stack values only:
//   ddp                   PyTorch DistributedDataParallel: a smaller first bucket (`first_bucket_bytes`)
//   mirrored              TensorFlow MirroredStrategy, in one node: packs of `bucket_bytes`, 0 = all in one
//   multi_worker_mirrored TensorFlow MultiWorkerMirroredStrategy: the same over nodes
// Stack values: `overlap` (the share of bytes reduced while backward runs; the other buckets wait for its end),
// `gradient_as_bucket_view` (nothing is copied into and out of buckets), `synchronize_every_micro_batch`,
// `find_unused_parameters` and `static_graph`, `hierarchical`, and the scenario's compression.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/strategies/buckets.h"
#include "sim/strategies/compression.h"
#include "sim/strategies/exchange.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/unused_parameters.h"

namespace foretrain::sim::strategies {

struct BucketLimits {
  Bytes first, further;
};
[[nodiscard]] BucketLimits ddp_limits(const calibrate::Stack& stack);
[[nodiscard]] BucketLimits tensorflow_limits(const calibrate::Stack& stack);

class BucketedReducer final : public Reducer {
 public:
  BucketedReducer(StepWriter& writer, BucketLimits limits);
  [[nodiscard]] std::vector<Communicator> communicators() const override { return exchange_.communicators(); }
  void before_backward() override;
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;
  [[nodiscard]] bool reduces_every_micro_batch() const override;

 private:
  void send(std::size_t bucket, ActivityIndex gradients_done);
  ActivityIndex copy(std::size_t bucket, const char* where, ActivityIndex after);

  StepWriter& writer_;
  double bytes_per_element_;  // in the bucket
  bool copies_;
  Exchange exchange_;
  std::unique_ptr<Compressor> compressor_;
  UnusedParameters unused_;
  std::vector<Bucket> buckets_;
  std::vector<bool> put_off_;
  // Of the backward pass that goes on:
  std::size_t next_ = 0;           // the next bucket to become full
  std::vector<std::size_t> sent_;  // in this order
  ActivityIndex last_gradients_ = 0;
};

}  // namespace foretrain::sim::strategies
