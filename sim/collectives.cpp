#include "sim/collectives.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/statistics.h"
#include "base/text.h"

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;

int ring_steps(CollectiveKind kind, int ranks) {
  if (kind == CollectiveKind::send_receive) return 1;
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (ranks - 1);
}

// How many steps of a ring wait for a hop between nodes, as NCCL's tuning model counts them: an all-reduce
// passes every node boundary twice. With one rank per node every step is such a hop.
int ring_hops(CollectiveKind kind, const GroupShape& shape) {
  switch (kind) {
    case CollectiveKind::send_receive: return 1;
    case CollectiveKind::all_to_all: return shape.ranks - shape.ranks_per_node;
    case CollectiveKind::all_reduce: return std::min(2 * shape.nodes, ring_steps(kind, shape.ranks));
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast: return shape.nodes - 1;
    case CollectiveKind::push:
    case CollectiveKind::pull:
    case CollectiveKind::update: break;
  }
  return 0;
}

int tree_depth(int nodes) {
  int depth = 0;
  while ((std::int64_t{1} << depth) < nodes) ++depth;
  return depth;
}

// Bytes of the plan in terms of group_flows: what a rank passes on inside its node, a node through its NICs.
struct Traffic {
  Bytes rank, node;
};

Traffic ring_traffic(CollectiveKind kind, Bytes bytes, const GroupShape& shape) {
  if (kind == CollectiveKind::all_to_all) {
    // Each of the L ranks keeps (L-1)/n of its bytes in the node (a flow's share is (L-1)/L of `rank`) and
    // sends (n-L)/n out of it.
    const double ranks = shape.ranks, here = shape.ranks_per_node;
    return {bytes * (here / ranks), bytes * (here * (ranks - here) / ranks)};
  }
  const Bytes bus = bytes * calibrate::bus_factor(kind, shape.ranks);
  return {bus, bus};
}

std::string network_basis(const Cluster& cluster) {
  return fmt::format("α–β with the latency and {} of the line rate of {}",
                     format_percent(cluster.network_achieved_fraction), cluster.network->name);
}

std::string way(CollectiveKind kind, const GroupShape& shape) {
  if (kind == CollectiveKind::send_receive) return "between neighbours";
  return fmt::format("by a ring of {} ranks", shape.ranks);
}

// Fills in what follows from latency and bytes: the time alone and the parameter that decides it.
void finish(CollectivePlan& plan, const GroupShape& shape) {
  if (shape.rank_rate.value == 0) plan.rank_bytes = Bytes(0);  // no two ranks share a node
  const Seconds inside = shape.rank_rate.value > 0 ? plan.rank_bytes / shape.rank_rate : Seconds(0);
  const Seconds between = shape.node_rate.value > 0 ? plan.node_bytes / shape.node_rate : Seconds(0);
  const Seconds transfer = std::max(inside, between);
  plan.alone.time = plan.alpha.time + transfer;
  plan.alone.parameter = transfer < plan.alpha.time ? plan.alpha.parameter
                         : between < inside         ? shape.rank_parameter
                                                    : shape.node_parameter;
}

}  // namespace

CollectiveCosts::CollectiveCosts(const Cluster& cluster, const Topology& topology,
                                 const calibrate::Catalogue& catalogue, ParameterTable& parameters)
    : CollectiveCosts(cluster, topology, catalogue.collective_constants(), catalogue.collective_tables(), parameters) {}

CollectiveCosts::CollectiveCosts(const Cluster& cluster, const Topology& topology,
                                 const calibrate::CollectiveConstants& constants,
                                 const std::vector<calibrate::CollectiveTable>& tables, ParameterTable& parameters)
    : cluster_(cluster), topology_(topology), constants_(constants), measured_(cluster, tables) {
  const bool pcie = cluster.machine.intra_node == calibrate::IntraNode::pcie;
  inside_latency_ = parameters.add({"collective latency inside a node", constants.relative_spread, Provenance::fitted,
                                    constants.source, inside_step(pcie).value * 1e6, "µs per step"});
  hop_latency_ = inside_latency_;
  if (cluster.network == nullptr) return;
  const calibrate::NetworkKind& network = *cluster.network;
  hop_latency_ = parameters.add({fmt::format("network hop latency of {}", network.name), network.hop_spread,
                                 Provenance::fitted, network.source, network.hop_latency.value * 1e6, "µs per hop"});
}

GroupShape CollectiveCosts::completed(const GroupShape& shape) const {
  if (shape.rank_rate.value > 0 || shape.node_rate.value > 0) return shape;
  assert(shape.nodes <= topology_.nodes() && shape.ranks_per_node <= topology_.gpus_per_node());
  std::vector<int> group;
  int left = shape.ranks;
  for (int node = 0; node < shape.nodes; ++node) {
    const int nodes_after = shape.nodes - 1 - node;  // each of them keeps at least one rank
    const int here = std::min(shape.ranks_per_node, left - nodes_after);
    for (int i = 0; i < here; ++i) group.push_back(node * topology_.gpus_per_node() + i);
    left -= here;
  }
  assert(left == 0);
  return shape_of(group, topology_);
}

CollectivePlan CollectiveCosts::plan(CollectiveKind kind, Bytes bytes, const GroupShape& given) const {
  assert(given.servers == calibrate::is_with_servers(kind));
  if (given.servers) return with_servers(kind, bytes, given);
  if (given.ranks < 2) {
    CollectivePlan nothing;
    nothing.alpha.parameter = nothing.alone.parameter = inside_latency_;
    nothing.how = "one rank: nothing to do";
    return nothing;
  }
  const GroupShape shape = completed(given);
  if (shape.nodes == 1) return inside_node(kind, bytes, shape);
  const CollectivePlan ring = ring_across_nodes(kind, bytes, shape);
  if (kind != CollectiveKind::all_reduce) return ring;
  const CollectivePlan tree = tree_across_nodes(bytes, shape);
  return tree.alone.time < ring.alone.time ? tree : ring;
}

CollectivePlan CollectiveCosts::inside_node(CollectiveKind kind, Bytes bytes, const GroupShape& shape) const {
  CollectivePlan plan;
  plan.steps = ring_steps(kind, shape.ranks);
  plan.alpha.parameter = inside_latency_;
  // Tables are of consecutive GPUs; a group whose ring is narrower than theirs (NVLink pairs torn apart,
  // PCIe switches crossed more often) is not what they measured.
  const GroupShape consecutive = completed({shape.ranks, 1, shape.ranks});
  const std::optional<MeasuredTime> measured =
      shape.rank_rate < consecutive.rank_rate ? std::nullopt : measured_.time(kind, bytes, shape.ranks);
  if (measured) {
    plan.alpha.time = measured->latency;
    plan.rank_bytes = shape.rank_rate * (measured->alone - measured->latency);
    plan.how = fmt::format("{} of {} ranks in one node, interpolated in the measured {}", calibrate::to_string(kind),
                           shape.ranks, measured->how);
  } else {
    plan.alpha.time = constants_.ring_base + inside_step(shape.over_pcie) * plan.steps;
    plan.rank_bytes = bytes * calibrate::bus_factor(kind, shape.ranks);
    plan.how = fmt::format("{} {} in one node, α–β with fitted latency and {} of the link rate",
                           calibrate::to_string(kind), way(kind, shape),
                           format_percent(cluster_.intra_node_achieved_fraction));
  }
  finish(plan, shape);
  return plan;
}

CollectivePlan CollectiveCosts::ring_across_nodes(CollectiveKind kind, Bytes bytes, const GroupShape& shape) const {
  CollectivePlan plan;
  plan.steps = ring_steps(kind, shape.ranks);
  const int hops = ring_hops(kind, shape);
  plan.alpha = {
      constants_.ring_base + inside_step(shape.over_pcie) * (plan.steps - hops) + cluster_.network->hop_latency * hops,
      hop_latency_};
  const Traffic traffic = ring_traffic(kind, bytes, shape);
  plan.rank_bytes = traffic.rank / inside_share(shape);
  plan.node_bytes = traffic.node * message_stretch(bytes, shape);
  plan.how = fmt::format("{} {} over {} nodes, {}", calibrate::to_string(kind), way(kind, shape), shape.nodes,
                         network_basis(cluster_));
  finish(plan, shape);
  return plan;
}

CollectivePlan CollectiveCosts::tree_across_nodes(Bytes bytes, const GroupShape& shape) const {
  CollectivePlan plan;
  const int depth = tree_depth(shape.nodes);
  plan.steps = 2 * (shape.ranks_per_node - 1 + depth);
  plan.alpha = {constants_.tree_base + inside_step(shape.over_pcie) * (2 * (shape.ranks_per_node - 1)) +
                    cluster_.network->hop_latency * (2 * depth),
                hop_latency_};
  // Link capacities are what rings achieve; a tree achieves its own share of a link.
  const Bytes up_and_down = bytes * (2 * constants_.ring_efficiency / constants_.tree_efficiency);
  plan.rank_bytes = up_and_down / inside_share(shape);
  plan.node_bytes = up_and_down * message_stretch(bytes, shape);
  plan.how = fmt::format("all_reduce by a double binary tree over {} nodes, chains of {} ranks inside, {}", shape.nodes,
                         shape.ranks_per_node, network_basis(cluster_));
  finish(plan, shape);
  return plan;
}

CollectivePlan CollectiveCosts::with_servers(CollectiveKind kind, Bytes bytes, const GroupShape& shape) const {
  CollectivePlan plan;
  plan.rank_bytes = plan.node_bytes = bytes;
  const bool update = kind == CollectiveKind::update, across = shape.nodes > 1;
  plan.alpha.parameter = across ? hop_latency_ : inside_latency_;
  if (!update) plan.alpha.time = (across ? cluster_.network->hop_latency : inside_step(true)) * 2;
  const Seconds transfer = bytes / (update ? shape.update_rate : shape.exchange_rate);
  plan.alone.time = plan.alpha.time + transfer;
  plan.alone.parameter = transfer < plan.alpha.time ? plan.alpha.parameter
                         : update                   ? shape.update_parameter
                                                    : shape.exchange_parameter;
  plan.how = update ? "update in the memory of the parameter servers"
                    : fmt::format("{} of {} ranks with parameter servers, {} nodes in all, over their most loaded link",
                                  calibrate::to_string(kind), shape.ranks, shape.nodes);
  return plan;
}

Seconds CollectiveCosts::inside_step(bool over_pcie) const {
  return over_pcie ? constants_.pcie_step : constants_.nvlink_step;
}

// How much longer than at the NICs' large-message rate an operation of this size takes. A curve so steep that
// fewer bytes would take longer is held at the time of the fewer.
double CollectiveCosts::message_stretch(Bytes bytes, const GroupShape& shape) const {
  const std::vector<double>& sizes = cluster_.network->message_bytes_per_nic;
  const std::vector<double>& shares = cluster_.network->message_share;
  const double per_nic = bytes.value / shape.nics;
  if (sizes.empty() || per_nic == 0) return 1.0;
  double stretched = per_nic / interpolate_log_log(sizes, shares, per_nic);
  for (std::size_t i = 0; i < sizes.size() && sizes[i] < per_nic; ++i) {
    stretched = std::max(stretched, sizes[i] / shares[i]);
  }
  return stretched / per_nic;
}

// Of the ports inside a node: what rings over so many GPUs of it were measured to reach (a mesh gives few
// GPUs less than many).
double CollectiveCosts::inside_share(const GroupShape& shape) const {
  if (shape.ranks_per_node < 2) return 1.0;
  const std::optional<BytesPerSecond> measured = measured_.bus_bandwidth(shape.ranks_per_node);
  if (!measured) return 1.0;
  const GroupShape consecutive = completed({shape.ranks_per_node, 1, shape.ranks_per_node});
  return std::min(1.0, *measured / consecutive.rank_rate);
}

}  // namespace foretrain::sim
