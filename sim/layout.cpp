#include "sim/layout.h"

#include <cassert>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain::sim {

Layout::Layout(const Plan& plan, int gpus) {
  const std::int64_t shards = plan.tensor * plan.pipeline;
  if (shards < 1 || gpus < 1 || gpus % shards != 0) {
    throw Error(fmt::format("{} GPUs cannot be split into tensor {} × pipeline {}", gpus, plan.tensor, plan.pipeline),
                "/cluster/gpus", fmt::format("use a multiple of {}", shards));
  }
  tensor_ = static_cast<int>(plan.tensor);
  stages_ = static_cast<int>(plan.pipeline);
  data_ = gpus / (tensor_ * stages_);
}

Communicator Layout::tensor_groups() const {
  Communicator communicator{tensor_communicator, {}};
  for (int stage = 0; stage < stages_; ++stage) {
    for (int d = 0; d < data_; ++d) {
      std::vector<int>& group = communicator.groups.emplace_back();
      for (int t = 0; t < tensor_; ++t) group.push_back(rank(t, d, stage));
    }
  }
  return communicator;
}

Communicator Layout::data_groups() const {
  Communicator communicator = shard_groups(data_);
  communicator.name = data_communicator;
  return communicator;
}

Communicator Layout::shard_groups(int ranks) const {
  assert(ranks >= 1 && data_ % ranks == 0);
  Communicator communicator{shard_communicator, {}};
  for (int stage = 0; stage < stages_; ++stage) {
    for (int t = 0; t < tensor_; ++t) {
      for (int d = 0; d < data_; ++d) {
        if (d % ranks == 0) communicator.groups.emplace_back();
        communicator.groups.back().push_back(rank(t, d, stage));
      }
    }
  }
  return communicator;
}

Communicator Layout::replica_groups(int ranks) const {
  assert(ranks >= 1 && data_ % ranks == 0);
  Communicator communicator{replica_communicator, {}};
  for (int stage = 0; stage < stages_; ++stage) {
    for (int t = 0; t < tensor_; ++t) {
      for (int place = 0; place < ranks; ++place) {
        std::vector<int>& group = communicator.groups.emplace_back();
        for (int d = place; d < data_; d += ranks) group.push_back(rank(t, d, stage));
      }
    }
  }
  return communicator;
}

Communicator Layout::embedding_groups() const {
  Communicator communicator = pairs(embedding_communicator, 0, stages_ - 1);
  communicator.pattern = Pattern::ring;
  return communicator;
}

std::string Layout::activations_name(int stage) { return fmt::format("activations from stage {}", stage); }
std::string Layout::gradients_name(int stage) { return fmt::format("gradients from stage {}", stage); }

Communicator Layout::activations_from(int stage) const {
  return pairs(activations_name(stage), stage, (stage + 1) % stages_);
}

Communicator Layout::gradients_from(int stage) const {
  return pairs(gradients_name(stage), stage, (stage + stages_ - 1) % stages_);
}

Communicator Layout::pairs(std::string name, int from, int to) const {
  assert(stages_ > 1 && from != to);
  Communicator communicator{std::move(name), {}, Pattern::pair};
  for (int d = 0; d < data_; ++d) {
    for (int t = 0; t < tensor_; ++t) communicator.groups.push_back({rank(t, d, from), rank(t, d, to)});
  }
  return communicator;
}

}  // namespace foretrain::sim
