// Buckets: which gradients travel together, and which of them wait for the end of backward.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim::strategies {

// One tensor's gradient.
struct ReadyGradient {
  double elements = 0;
  std::size_t made_by = 0;  // operator, in forward order
  double rows = 1;          // of the tensor as a matrix: its first dimension; a vector has as many as elements
};

// Gradients of a model in the order of its backward pass. A tied tensor stands with its first user, whose backward
// comes last: that is when its gradient is complete. Tables that the plan spreads over the ranks have none to average.
[[nodiscard]] std::vector<ReadyGradient> ready_order(const models::Model& model, const Plan& plan);

struct Bucket {
  double elements = 0;
  std::size_t ready_after = 0;  // the operator (in forward order) whose backward makes its last gradient
  std::vector<ReadyGradient> tensors;
  void add(const ReadyGradient& gradient);
};

// A bucket is closed as soon as it has reached its limit, so that a large tensor makes a large bucket: the rule of
// PyTorch's compute_bucket_assignment_by_size (torch/csrc/distributed/c10d/reducer.cpp), whose first bucket has a
// smaller limit, and of TensorFlow's group_by_size (tensorflow/python/distribute/cross_device_utils.py). `gradients`
// in the order in which they become ready, of fp32 each whatever travels later.
[[nodiscard]] std::vector<Bucket> assign_buckets(const std::vector<ReadyGradient>& gradients, Bytes first_limit,
                                                 Bytes limit);

// Which of the items, given in ready order, wait for the end of backward when `overlap` of all bytes does not: spread
// out, so that after every item the bytes put off are as near as whole items allow to (1 − overlap) of those so far.
[[nodiscard]] std::vector<bool> put_off(const std::vector<double>& bytes, double overlap);

}  // namespace foretrain::sim::strategies
