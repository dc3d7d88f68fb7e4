#include "sim/strategies/sharded_state.h"

#include <utility>

#include <fmt/format.h>

#include "sim/strategies/bucketed.h"

namespace foretrain::sim::strategies {

using calibrate::CollectiveKind;

ShardedStateReducer::ShardedStateReducer(StepWriter& writer, bool gradients_in_parts)
    : writer_(writer),
      channel_(writer, data_communicator, writer.communication()),
      ranks_(writer.layout().data()),
      gradients_in_parts_(gradients_in_parts),
      copies_(writer.stack("gradient_as_bucket_view") == 0),
      gathers_beside_(writer.stack("overlap_parameter_gather") != 0),
      gradient_bytes_(bytes_sent(writer, "gradient_bytes_per_parameter")),
      parameter_bytes_(bytes_sent(writer, "gather_bytes_per_parameter")) {
  const BucketLimits limits = ddp_limits(writer.input().stack);
  buckets_ =
      assign_buckets(ready_order(writer.rank_model(), writer.input().scenario.plan), limits.first, limits.further);
  std::vector<double> elements;
  for (const Bucket& bucket : buckets_) elements.push_back(bucket.elements);
  put_off_ = put_off(elements, writer.stack("overlap"));
}

std::vector<Communicator> ShardedStateReducer::communicators() const { return {writer_.layout().data_groups()}; }

bool ShardedStateReducer::reduces_every_micro_batch() const {
  return gradients_in_parts_ || writer_.stack("synchronize_every_micro_batch") != 0;
}

void ShardedStateReducer::begin_micro_batch(bool first, bool /*reduces*/) { first_ = first; }

void ShardedStateReducer::gather_next(const std::vector<ActivityIndex>& waits) {
  if (gathers_.size() == buckets_.size()) return;
  const std::size_t bucket = buckets_.size() - 1 - gathers_.size();
  gathers_.push_back(channel_.call(CollectiveKind::all_gather, fmt::format("parameters of bucket {}", bucket + 1),
                                   Bytes(buckets_[bucket].elements * parameter_bytes_), waits));
}

std::vector<ActivityIndex> ShardedStateReducer::before_forward(std::size_t index) {
  std::vector<ActivityIndex> waits;
  if (!gathers_beside_) return waits;
  for (; used_ < buckets_.size() && buckets_[buckets_.size() - 1 - used_].ready_after <= index; ++used_) {
    if (gathers_.size() == used_) gather_next({});
    waits.push_back(gathers_[used_]);
    gather_next({});
  }
  return waits;
}

void ShardedStateReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  last_gradients_ = gradients_done;
  for (; next_ < buckets_.size() && buckets_[next_].ready_after >= index; ++next_) {
    if (!put_off_[next_]) scatter(next_, gradients_done);
  }
}

void ShardedStateReducer::scatter(std::size_t bucket, ActivityIndex gradients_done) {
  const std::string name = fmt::format("bucket {}", bucket + 1);
  const double elements = buckets_[bucket].elements;
  ActivityIndex ready = gradients_done;
  if (copies_) {
    // zero2 fills a bucket with what backward makes, zero1 with what has been summed up.
    const double read = gradients_in_parts_ ? made_gradient_bytes(writer_) : stored_gradient_bytes(writer_);
    ready = gradient_pass(writer_, "copy into " + name, Bytes(elements * (read + gradient_bytes_)), {ready});
  }
  scattered_.push_back({bucket, channel_.call(CollectiveKind::reduce_scatter, name, Bytes(elements * gradient_bytes_),
                                              {ready})});
}

// This rank's part of a bucket goes to where gradients are kept, or is added to what lies there.
ActivityIndex ShardedStateReducer::collect(std::size_t bucket, ActivityIndex scattered) {
  const bool adds = gradients_in_parts_ && !first_;
  if (!copies_ && !adds) return scattered;
  const double accesses = gradient_bytes_ + stored_gradient_bytes(writer_) * (adds ? 2 : 1);
  return gradient_pass(writer_, fmt::format("{} bucket {}", adds ? "add part of" : "copy part out of", bucket + 1),
                       Bytes(buckets_[bucket].elements / ranks_ * accesses), {scattered});
}

std::vector<ActivityIndex> ShardedStateReducer::finish() {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (put_off_[bucket]) scatter(bucket, last_gradients_);
  }
  std::vector<ActivityIndex> collected;
  for (const Scattered& part : std::exchange(scattered_, {})) collected.push_back(collect(part.bucket, part.done));
  next_ = 0;
  return collected;
}

void ShardedStateReducer::after_last_update(ActivityIndex updated) {
  if (gathers_beside_) return;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) gather_next({updated});
}

}  // namespace foretrain::sim::strategies
