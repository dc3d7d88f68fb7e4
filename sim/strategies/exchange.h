// Exchange: averages a buffer over all ranks, by one collective or by levels.
//
// Flat: one all-reduce over all ranks. Hierarchical (stack value `hierarchical`): reduce-scatter inside each node,
// all-reduce of each rank's part between ranks of equal local index, all-gather inside the node; between nodes goes
// 1/L of the buffer per rank. Where the last node is partly filled the parts do not match, and the buffer is summed
// up on the first rank of each node, averaged between these, and broadcast inside (as Horovod's
// NCCLHierarchicalAllreduce does for clusters that are not homogeneous; unverified). One node, or one GPU per
// node, is flat. Every call to the collective library costs the host `collective_launch_seconds`.
#pragma once

#include <string>
#include <vector>

#include "sim/placement.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Exchange {
 public:
  // `host`: the stream whose thread calls the collective library.
  Exchange(StepWriter& writer, std::uint16_t host);

  // All that its collectives may name: "data", and by levels "node" and "across nodes".
  [[nodiscard]] std::vector<Communicator> communicators() const;

  // Averages `bytes` per rank, called `what` ("bucket 3"), when `ready` are done; returns what completes it.
  ActivityIndex average(const std::string& what, Bytes bytes, const std::vector<ActivityIndex>& ready);
  // One collective over all ranks; `bytes` as Activity::bytes counts them.
  ActivityIndex collective(calibrate::CollectiveKind kind, const std::string& name, Bytes bytes,
                           const std::vector<ActivityIndex>& ready);

  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  enum class Levels { flat, even, uneven };
  ActivityIndex call(const char* communicator, calibrate::CollectiveKind kind, const std::string& name, Bytes bytes,
                     const std::vector<ActivityIndex>& ready);

  StepWriter& writer_;
  std::uint16_t host_;
  int ranks_, ranks_per_node_;
  Levels levels_;
};

}  // namespace foretrain::sim::strategies
