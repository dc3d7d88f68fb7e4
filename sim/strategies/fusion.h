// Fusion: which gradients Horovod reduces together.
//
// Horovod's background thread wakes once per cycle, agrees with the other ranks on the tensors that were handed over
// since, and fuses them in order up to a threshold; a tensor that is larger travels alone. Before each reduction it
// waits for the data (docs/tensor-fusion.rst, docs/timeline.rst: WAIT_FOR_DATA); tensors handed over meanwhile belong
// to the next cycle. A framework hands a tensor over when it has launched the kernel that makes it, so that a host that
// runs ahead of its device makes large fusions.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "sim/strategies/buckets.h"

namespace foretrain::sim::strategies {

struct HandedOver {
  ReadyGradient gradient;
  Seconds at;     // when the thread hears of it; ascending
  Seconds ready;  // when its data is there
};

struct FusionRules {
  Bytes threshold;  // 0 = nothing is fused
  double bytes_per_element = 4;
  Seconds cycle, negotiation;
};

struct FusedCycle {
  std::size_t last = 0;  // the last tensor it takes: index into what was handed over
  Seconds wait;          // of the thread, after that tensor came (and its own last work), for its next waking
  std::vector<Bucket> groups;
  std::vector<std::size_t> group_ends;  // index behind the last tensor of each group
};

[[nodiscard]] std::vector<FusedCycle> fuse(const std::vector<HandedOver>& tensors, const FusionRules& rules);

}  // namespace foretrain::sim::strategies
