// Sharded calls: what the reducers of sharded state have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

// The collectives of one communicator, which run one after the other in the order in which the host calls them, as in
// one NCCL communicator whatever streams they are called from (PyTorch documentation, FSDP notes: one process group
// means one internal stream). Each call costs the host `collective_launch_seconds`.
class Channel {
 public:
  Channel(StepWriter& writer, std::string communicator, std::uint16_t stream);

  // `bytes` as Activity::bytes counts them.
  ActivityIndex call(calibrate::CollectiveKind kind, const std::string& what, Bytes bytes,
                     const std::vector<ActivityIndex>& waits);

 private:
  StepWriter& writer_;
  std::string communicator_;
  std::uint16_t stream_;
};

// Bytes of one parameter or gradient as the stack's value `key` sends it. Stacks state them for mixed precision;
// in fp32 and tf32 there are four, unless the scenario says otherwise.
[[nodiscard]] double bytes_sent(const StepWriter& writer, const std::string& key);
// Of one gradient as backward makes it, and as it is kept over micro-batches.
[[nodiscard]] double made_gradient_bytes(const StepWriter& writer);
[[nodiscard]] double stored_gradient_bytes(const StepWriter& writer);

// A pass over device memory on the compute stream (copies and sums of gradients), in backward.
ActivityIndex gradient_pass(StepWriter& writer, const std::string& name, Bytes bytes,
                            const std::vector<ActivityIndex>& waits);

}  // namespace foretrain::sim::strategies
