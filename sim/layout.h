// Layout: which rank is what when tensor, pipeline and data parallelism are composed.
//
// Ranks are numbered as Megatron-LM numbers them (Narayanan et al. 2021, arXiv:2104.04473, section 3; its default order
// "tp-cp-dp-pp"): tensor-parallel ranks are neighbours, then come data-parallel ones, pipeline stages are farthest
// apart: rank = tensor + T·(data + D·stage). Which communicator stays inside a node, and so over which links it goes,
// follows from that alone.
#pragma once

#include <string>
#include <vector>

#include "sim/placement.h"
#include "sim/scenario.h"

namespace foretrain::sim {

// Names of communicators that programs and placements share.
inline constexpr const char* data_communicator = "data";
inline constexpr const char* tensor_communicator = "tensor";
inline constexpr const char* shard_communicator = "shard";          // the ranks that share one copy of the state
inline constexpr const char* replica_communicator = "replica";      // the ranks with the same part of different copies
inline constexpr const char* embedding_communicator = "embedding";  // first and last stage, when the table is tied

class Layout {
 public:
  // Throws Error when the degrees do not divide `gpus`.
  Layout(const Plan& plan, int gpus);

  [[nodiscard]] int ranks() const { return tensor_ * data_ * stages_; }
  [[nodiscard]] int tensor() const { return tensor_; }
  [[nodiscard]] int data() const { return data_; }
  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] int rank(int tensor, int data, int stage) const { return tensor + tensor_ * (data + data_ * stage); }
  [[nodiscard]] int stage_of(int rank) const { return rank / (tensor_ * data_); }

  // One group for each set of ranks that differ in that index only, all in ascending order.
  [[nodiscard]] Communicator tensor_groups() const;
  [[nodiscard]] Communicator data_groups() const;
  // Data-parallel groups cut into parts of `ranks` neighbours, and the ranks of equal place in all parts of a group.
  // `ranks` divides data().
  [[nodiscard]] Communicator shard_groups(int ranks) const;
  [[nodiscard]] Communicator replica_groups(int ranks) const;
  // Pairs of first and last stage.
  [[nodiscard]] Communicator embedding_groups() const;
  // Pairs along the pipeline (Pattern::pair): activations go from `stage` to the next one, gradients to the one before;
  // after the last stage comes the first (interleaved schedules).
  [[nodiscard]] Communicator activations_from(int stage) const;
  [[nodiscard]] Communicator gradients_from(int stage) const;
  // Their names.
  [[nodiscard]] static std::string activations_name(int stage);
  [[nodiscard]] static std::string gradients_name(int stage);

 private:
  [[nodiscard]] Communicator pairs(std::string name, int from, int to) const;

  int tensor_ = 1, data_ = 1, stages_ = 1;
};

}  // namespace foretrain::sim
