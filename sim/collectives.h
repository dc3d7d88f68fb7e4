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
#include "sim/collective_planner.h"
#include "sim/topology.h"

namespace foretrain::sim {

[[nodiscard]] GroupShape shape_of(const std::vector<int>& group, const Topology& topology);

// One flow of a collective: `share` of the plan's rank_bytes (inside a node) or node_bytes (between nodes).
struct FlowTemplate {
  Route route;
  double share = 1.0;
  bool between_nodes = false;
};

class CollectiveCosts : public CollectivePlanner {
 public:
  CollectiveCosts(const Cluster& cluster, const Topology& topology, const calibrate::Catalogue& catalogue,
                  ParameterTable& parameters);
  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind kind, Bytes bytes, const GroupShape& shape) const override;

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
