// Collectives: an operation on a group becomes a latency and weighted flows.
//
// plan_collective decides algorithm, latency α and bytes for one group as NCCL would choose; it uses a
// measured table inside a node, α–β across nodes. group_flows says which links the ranks of a group
// load, once per group. A collective then costs {α timer, then all flows at once}; alone on its links
// it takes exactly Plan::alone. Closed forms: ring all-reduce 2(n-1)(α_step + S/(n·B)).
#pragma once

#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/catalogue.h"
#include "sim/topology.h"

namespace foretrain::sim {

// How a group lies in the cluster: all that timing needs to know of it.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;  // the largest
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};
[[nodiscard]] GroupShape shape_of(const std::vector<int>& group, const Topology& topology);

struct CollectivePlan {
  Duration alpha;       // paid by a timer before the flows start
  Bytes rank_bytes;     // each rank sends this to its successor inside its node (0 if none)
  Bytes node_bytes;     // each node sends this through the NICs of its members (0 in one node)
  Duration alone;       // time without contention, for `analytic` fidelity
  int steps = 1;        // of the ring or tree, for `steps` fidelity
  std::string how;      // for explain: "ring, interpolated in nccl table …", "double tree, α–β"
};

// One flow of a collective: `share` of the plan's rank_bytes (inside a node) or node_bytes (between nodes).
struct FlowTemplate {
  Route route;
  double share = 1.0;
  bool between_nodes = false;
};

class CollectiveCosts {
 public:
  CollectiveCosts(const Cluster& cluster, const Topology& topology, const calibrate::Catalogue& catalogue,
                  ParameterTable& parameters);
  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind kind, Bytes bytes, const GroupShape& shape) const;

 private:
  const Cluster& cluster_;
  const Topology& topology_;
  const calibrate::Catalogue& catalogue_;
  ParameterTable& parameters_;
};

// Ring hops of the group: one flow per rank to the next rank of its node; per node one flow per NIC of its
// members to the next node. A group that fills whole nodes uses all of their NICs. Rings are rotated over
// channels, so every rank of a node carries the same intra-node share.
[[nodiscard]] std::vector<FlowTemplate> group_flows(const std::vector<int>& group, const Topology& topology);

}  // namespace foretrain::sim
