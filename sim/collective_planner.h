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

// How a group lies in the cluster: all that timing needs to know of it. shape_of() fills in all of it; a
// shape with only the first three stands for consecutive ranks.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;  // the largest
  int nics = 0;            // NICs that its members have in a node, the smallest; 0 in one node
  bool over_pcie = false;  // some hop inside a node crosses PCIe
  // Alone, its most loaded link inside a node passes this many of CollectivePlan::rank_bytes per second, its
  // most loaded NIC or leaf link this many node_bytes; each with that link's parameter. 0 = no such link.
  BytesPerSecond rank_rate{0.0};
  BytesPerSecond node_rate{0.0};
  ParameterId rank_parameter{};
  ParameterId node_parameter{};
  // With parameter servers (then the two rates above are 0, `nodes` counts theirs, and one rank is no idle group):
  // alone, its most loaded link passes this many bytes of a push or pull per second, its servers' memory so many of
  // an update.
  bool servers = false;
  BytesPerSecond exchange_rate{0.0};
  BytesPerSecond update_rate{0.0};
  ParameterId exchange_parameter{};
  ParameterId update_parameter{};
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

struct CollectivePlan {
  Duration alpha;    // paid by a timer before the flows start
  Bytes rank_bytes;  // each rank sends this to its successor inside its node (0 if none)
  Bytes node_bytes;  // each node sends this through the NICs of its members (0 in one node)
                     // (with parameter servers both are the bytes of the operation)
  Duration alone;    // time without contention, for `analytic` fidelity
  int steps = 1;     // of the ring or tree, for `steps` fidelity
  std::string how;   // for explain: "ring, interpolated in nccl table …", "double tree, α–β"
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
