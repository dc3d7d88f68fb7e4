// Group flows: which links the ranks of a group load when they run a ring or one sends to another, and what that makes
// of its shape.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/collective_planner.h"
#include "sim/topology.h"

namespace foretrain::sim {

// One flow of a collective: `share` of the plan's rank_bytes (inside a node) or node_bytes (between nodes).
struct FlowTemplate {
  Route route;
  double share = 1.0;
  bool between_nodes = false;
  // The only kind of operation that sends it; none = every one (rings carry all kinds alike).
  std::optional<calibrate::CollectiveKind> only_for = {};
};

// Ring hops of the group: one flow per rank to the next rank of its node; per node one flow per NIC of its
// members to the next node. A group that fills whole nodes uses all of their NICs. NCCL runs one ring per
// channel, each leaving the node after another rank, so with several nodes every one of a node's L ranks
// carries (L-1)/L of rank_bytes to its neighbour. Nodes come in the order in which the group first names them.
[[nodiscard]] std::vector<FlowTemplate> group_flows(const std::vector<int>& group, const Topology& topology);

// Of the flows that count, sent at once: what their most loaded link lets pass, in bytes of the plan per second, and
// that link's parameter; a rate of 0 where there is none.
struct MostLoaded {
  BytesPerSecond rate;
  ParameterId parameter;
};
[[nodiscard]] MostLoaded most_loaded(const std::vector<FlowTemplate>& flows,
                                     const std::function<bool(const FlowTemplate&)>& counts, const Topology& topology);

[[nodiscard]] GroupShape shape_of(const std::vector<int>& group, const Topology& topology);

// The same of a pair, in which the first rank sends to the second and nothing comes back: between nodes out of the
// sender's NICs and into the receiver's, evenly.
[[nodiscard]] std::vector<FlowTemplate> pair_flows(int from, int to, const Topology& topology);
[[nodiscard]] GroupShape pair_shape(int from, int to, const Topology& topology);

}  // namespace foretrain::sim
