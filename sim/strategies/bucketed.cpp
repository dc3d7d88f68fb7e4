#include "sim/strategies/bucketed.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/precision.h"

namespace foretrain::sim::strategies {
namespace {

// Gradients are kept in the parameters' own fp32 also under mixed precision.
const double gradient_storage_bytes = models::activation_bytes(models::Precision::fp32);

}  // namespace

BucketLimits ddp_limits(const calibrate::Stack& stack) {
  return {Bytes(stack.at("first_bucket_bytes").value), Bytes(stack.at("bucket_bytes").value)};
}

BucketLimits tensorflow_limits(const calibrate::Stack& stack) {
  const double pack = stack.at("bucket_bytes").value;
  const Bytes limit(pack > 0 ? pack : std::numeric_limits<double>::infinity());
  return {limit, limit};
}

BucketedReducer::BucketedReducer(StepWriter& writer, BucketLimits limits)
    : writer_(writer),
      bytes_per_element_(writer.stack("gradient_bytes_per_parameter")),
      copies_(writer.stack("gradient_as_bucket_view") == 0),
      exchange_(writer, writer.host()),
      compressor_(make_compressor(writer.input().scenario.stack.compression,
                                  {writer, exchange_, writer.main_lane(), bytes_per_element_})),
      unused_(writer, exchange_) {
  double overlap = writer.stack("overlap");
  if (compressor_->wants_everything_at_once()) {
    limits.first = limits.further = Bytes(std::numeric_limits<double>::infinity());
    overlap = 0;
  }
  buckets_ =
      assign_buckets(ready_order(writer.rank_model(), writer.input().scenario.plan), limits.first, limits.further);
  std::vector<double> bytes;
  for (const Bucket& bucket : buckets_) bytes.push_back(bucket.elements);
  put_off_ = put_off(bytes, overlap);
}

bool BucketedReducer::reduces_every_micro_batch() const { return writer_.stack("synchronize_every_micro_batch") != 0; }

void BucketedReducer::before_backward() { unused_.search(); }

void BucketedReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  last_gradients_ = gradients_done;
  for (; next_ < buckets_.size() && buckets_[next_].ready_after >= index; ++next_) {
    if (!put_off_[next_]) send(next_, gradients_done);
  }
}

// A pass that reads gradients and writes the bucket, or the other way round.
ActivityIndex BucketedReducer::copy(std::size_t bucket, const char* where, ActivityIndex after) {
  if (!copies_) return after;
  const Bytes moved(buckets_[bucket].elements * (gradient_storage_bytes + bytes_per_element_));
  const std::string name = fmt::format("copy {} bucket {}", where, bucket + 1);
  const calibrate::OperatorTime time = writer_.clock().memory_pass(moved);
  writer_.explain(name, "all_reduce", time.duration, time.formula, 1);
  return writer_.work({name, time.duration, {}}, Category::backward, {after});
}

void BucketedReducer::send(std::size_t bucket, ActivityIndex gradients_done) {
  compressor_->send(buckets_[bucket], fmt::format("bucket {}", bucket + 1), copy(bucket, "into", gradients_done));
  sent_.push_back(bucket);
}

std::vector<ActivityIndex> BucketedReducer::finish() {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (put_off_[bucket]) send(bucket, last_gradients_);
  }
  unused_.agree();
  std::vector<ActivityIndex> averages = compressor_->receive();
  for (std::size_t i = 0; i < averages.size(); ++i) averages[i] = copy(sent_[i], "out of", averages[i]);
  unused_.read();
  sent_.clear();
  next_ = 0;
  return averages;
}

}  // namespace foretrain::sim::strategies
