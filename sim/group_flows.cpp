#include "sim/group_flows.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace foretrain::sim {
namespace {

struct NodeMembers {
  int node = 0;
  std::vector<int> ranks;  // in ring order
  std::vector<int> nics;   // ascending
};

std::vector<NodeMembers> members_by_node(const std::vector<int>& group, const Topology& topology) {
  std::vector<NodeMembers> members;
  std::unordered_map<int, std::size_t> index;
  for (const int rank : group) {
    const int node = topology.node_of(rank);
    const auto [found, inserted] = index.try_emplace(node, members.size());
    if (inserted) {
      members.emplace_back();
      members.back().node = node;
    }
    members[found->second].ranks.push_back(rank);
  }
  if (members.size() == 1) return members;
  for (NodeMembers& here : members) {
    for (const int rank : here.ranks) {
      const std::vector<int> nics = topology.nics_of(rank);
      here.nics.insert(here.nics.end(), nics.begin(), nics.end());
    }
    std::sort(here.nics.begin(), here.nics.end());
    here.nics.erase(std::unique(here.nics.begin(), here.nics.end()), here.nics.end());
  }
  return members;
}

void add_ring_inside(const NodeMembers& here, double share, const Topology& topology,
                     std::vector<FlowTemplate>& flows) {
  const std::size_t ranks = here.ranks.size();
  if (ranks < 2) return;
  for (std::size_t i = 0; i < ranks; ++i) {
    flows.push_back({topology.intra_node_route(here.ranks[i], here.ranks[(i + 1) % ranks]), share, false});
  }
}

// Nodes with unequal numbers of NICs still load each of their own evenly: hence the least common multiple.
void add_hop_between(const NodeMembers& from, const NodeMembers& to, const Topology& topology,
                     std::vector<FlowTemplate>& flows) {
  const std::size_t count = std::lcm(from.nics.size(), to.nics.size());
  for (std::size_t i = 0; i < count; ++i) {
    flows.push_back({topology.inter_node_route(from.node, from.nics[i * from.nics.size() / count], to.node,
                                               to.nics[i * to.nics.size() / count]),
                     1.0 / static_cast<double>(count), true});
  }
}

std::vector<FlowTemplate> ring_flows(const std::vector<NodeMembers>& members, const Topology& topology) {
  std::vector<FlowTemplate> flows;
  for (const NodeMembers& here : members) {
    const double ranks = static_cast<double>(here.ranks.size());
    add_ring_inside(here, members.size() > 1 ? (ranks - 1) / ranks : 1.0, topology, flows);
  }
  if (members.size() == 1) return flows;
  for (std::size_t i = 0; i < members.size(); ++i) {
    add_hop_between(members[i], members[(i + 1) % members.size()], topology, flows);
  }
  return flows;
}

// Counts and rates of a group with these members and flows.
GroupShape shape_with(const std::vector<NodeMembers>& members, const std::vector<FlowTemplate>& flows,
                      const Topology& topology) {
  GroupShape shape;
  shape.ranks = 0;
  shape.nodes = static_cast<int>(members.size());
  shape.nics = members.empty() ? 0 : static_cast<int>(members.front().nics.size());
  for (const NodeMembers& here : members) {
    shape.ranks += static_cast<int>(here.ranks.size());
    shape.ranks_per_node = std::max(shape.ranks_per_node, static_cast<int>(here.ranks.size()));
    shape.nics = std::min(shape.nics, static_cast<int>(here.nics.size()));
  }
  const MostLoaded inside = most_loaded(
      flows, [](const FlowTemplate& flow) { return !flow.between_nodes; }, topology);
  const MostLoaded between = most_loaded(
      flows, [](const FlowTemplate& flow) { return flow.between_nodes; }, topology);
  shape.rank_rate = inside.rate;
  shape.rank_parameter = inside.parameter;
  shape.node_rate = between.rate;
  shape.node_parameter = between.parameter;
  for (const FlowTemplate& flow : flows) {
    shape.over_pcie = shape.over_pcie || (!flow.between_nodes && topology.is_pcie(flow.route.front().link));
  }
  return shape;
}

}  // namespace

MostLoaded most_loaded(const std::vector<FlowTemplate>& flows, const std::function<bool(const FlowTemplate&)>& counts,
                       const Topology& topology) {
  std::vector<std::pair<std::uint32_t, double>> loads;
  for (const FlowTemplate& flow : flows) {
    if (!counts(flow)) continue;
    for (const LinkUse& use : flow.route) loads.emplace_back(use.link, flow.share * use.weight);
  }
  std::sort(loads.begin(), loads.end());
  MostLoaded worst;
  for (std::size_t i = 0; i < loads.size();) {
    double load = 0;
    const std::uint32_t index = loads[i].first;
    for (; i < loads.size() && loads[i].first == index; ++i) load += loads[i].second;
    const Link& link = topology.links()[index];
    const BytesPerSecond rate = link.capacity / load;
    if (worst.rate.value == 0 || rate < worst.rate) worst = {rate, link.parameter};
  }
  return worst;
}

std::vector<FlowTemplate> group_flows(const std::vector<int>& group, const Topology& topology) {
  return ring_flows(members_by_node(group, topology), topology);
}

GroupShape shape_of(const std::vector<int>& group, const Topology& topology) {
  const std::vector<NodeMembers> members = members_by_node(group, topology);
  return shape_with(members, ring_flows(members, topology), topology);
}

std::vector<FlowTemplate> pair_flows(int from, int to, const Topology& topology) {
  const std::vector<NodeMembers> members = members_by_node({from, to}, topology);
  std::vector<FlowTemplate> flows;
  if (members.size() == 1) {
    flows.push_back({topology.intra_node_route(from, to), 1.0, false});
  } else {
    add_hop_between(members[0], members[1], topology, flows);
  }
  return flows;
}

GroupShape pair_shape(int from, int to, const Topology& topology) {
  return shape_with(members_by_node({from, to}, topology), pair_flows(from, to, topology), topology);
}

}  // namespace foretrain::sim
