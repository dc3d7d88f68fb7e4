// CollectivePlanner: what one collective operation on one group costs, as latency and bytes.
//
// The engine asks this question and nothing else about algorithms; CollectiveCosts answers it from
// measured tables and NCCL's constants, tests from a few lines of their own.
#pragma once

#include <string>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/collective_profile.h"

namespace foretrain::sim {

// How a group lies in the cluster: all that timing needs to know of it.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;  // the largest
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

struct CollectivePlan {
  Duration alpha;       // paid by a timer before the flows start
  Bytes rank_bytes;     // each rank sends this to its successor inside its node (0 if none)
  Bytes node_bytes;     // each node sends this through the NICs of its members (0 in one node)
  Duration alone;       // time without contention, for `analytic` fidelity
  int steps = 1;        // of the ring or tree, for `steps` fidelity
  std::string how;      // for explain: "ring, interpolated in nccl table …", "double tree, α–β"
};

class CollectivePlanner {
 public:
  virtual ~CollectivePlanner() = default;
  [[nodiscard]] virtual CollectivePlan plan(calibrate::CollectiveKind kind, Bytes bytes,
                                            const GroupShape& shape) const = 0;

 protected:
  CollectivePlanner() = default;
  CollectivePlanner(const CollectivePlanner&) = default;
  CollectivePlanner& operator=(const CollectivePlanner&) = default;
};

}  // namespace foretrain::sim
