#include "sim/contention.h"

#include <algorithm>
#include <set>
#include <vector>

#include "sim/group_flows.h"

namespace foretrain::sim {

GroupShape contended_shape(const Communicator& communicator, std::size_t group, const Topology& topology) {
  const std::vector<int>& own = communicator.groups[group];
  std::set<int> nodes;
  for (const int rank : own) nodes.insert(topology.node_of(rank));
  std::vector<FlowTemplate> flows;
  for (const std::vector<int>& ranks : communicator.groups) {
    const bool near =
        std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return nodes.count(topology.node_of(rank)) > 0; });
    if (!near) continue;
    const std::vector<FlowTemplate> more = group_flows(ranks, topology);
    flows.insert(flows.end(), more.begin(), more.end());
  }
  GroupShape shape = shape_of(own, topology);
  const MostLoaded inside = most_loaded(
      flows, [](const FlowTemplate& flow) { return !flow.between_nodes; }, topology);
  const MostLoaded between = most_loaded(
      flows, [](const FlowTemplate& flow) { return flow.between_nodes; }, topology);
  if (shape.rank_rate.value > 0) {
    shape.rank_rate = inside.rate;
    shape.rank_parameter = inside.parameter;
  }
  if (shape.node_rate.value > 0) {
    shape.node_rate = between.rate;
    shape.node_parameter = between.parameter;
  }
  return shape;
}

}  // namespace foretrain::sim
