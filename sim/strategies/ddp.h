// DDP: PyTorch DistributedDataParallel's way with gradients.
//
// Gradients are collected in buckets in the order in which backward makes them; a full bucket is averaged by
// one all-reduce while backward goes on. The rule is that of Reducer::rebuild_buckets with
// compute_bucket_assignment_by_size (torch/csrc/distributed/c10d/reducer.cpp): a bucket is closed as soon as
// it has reached its limit, so that a large tensor makes a large bucket; the first bucket has a smaller limit.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {

struct Bucket {
  double elements = 0;
  std::size_t ready_after = 0;  // the operator (in forward order) whose backward makes its last gradient
  std::size_t tensors = 0;
};

// `gradients` in the order in which they become ready.
struct ReadyGradient {
  double elements = 0;
  std::size_t made_by = 0;  // operator, in forward order
};
[[nodiscard]] std::vector<Bucket> assign_buckets(const std::vector<ReadyGradient>& gradients, Bytes first_limit,
                                                 Bytes limit);

// Gradients of a model in the order of its backward pass. A tied tensor stands with its first user, whose backward
// comes last: that is when its gradient is complete.
// Tables that the plan spreads over the ranks have none to average.
[[nodiscard]] std::vector<ReadyGradient> ready_order(const models::Model& model, const Plan& plan);

class DdpReducer final : public Reducer {
 public:
  explicit DdpReducer(StepWriter& writer);
  [[nodiscard]] std::vector<Communicator> communicators() const override;
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;

 private:
  void reduce(std::size_t bucket, ActivityIndex gradients_done);
  [[nodiscard]] Work copy(std::size_t bucket, const char* where) const;

  StepWriter& writer_;
  std::vector<Bucket> buckets_;
  double bytes_per_element_;  // on the wire
  bool overlap_;
  std::uint16_t communicator_;
  std::size_t next_ = 0;  // the next bucket to be reduced
  ActivityIndex last_gradients_ = 0;
  std::vector<ActivityIndex> reduced_;
};

}  // namespace foretrain::sim::strategies
