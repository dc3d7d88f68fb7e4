#include "sim/topology.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace foretrain::sim {
namespace {

using calibrate::IntraNode;

// Kinds of links; of each pair the outward (or upward) one comes first.
enum Kind : std::uint32_t {
  nvlink_out,
  nvlink_in,
  pcie_out,
  pcie_in,
  switch_up,
  switch_down,
  nic_out,
  nic_in,
  leaf_up,
  leaf_down,
  server_nic_out,
  server_nic_in,
  host_port_out,
  host_port_in,
  host_memory_access
};

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names = {"NVLink port out",
                                                 "NVLink port in",
                                                 "PCIe port out",
                                                 "PCIe port in",
                                                 "PCIe switch uplink",
                                                 "PCIe switch downlink",
                                                 "NIC out",
                                                 "NIC in",
                                                 "leaf uplink",
                                                 "leaf downlink",
                                                 "server share of NIC out",
                                                 "server share of NIC in",
                                                 "PCIe port to host",
                                                 "PCIe port from host",
                                                 "host memory"};
  return names;
}

// A PCIe switch for GPUs (96 lanes: PLX PEX 8796, Microchip PFX 96) has room for four x16 cards, an x16 uplink
// and a NIC; a host with more than one GPU spreads them over two sockets.
constexpr int most_gpus_per_switch = 4;
constexpr int sockets = 2;

// Bytes that come to a host are written into its memory by a card and read from there by the processor (and the
// other way round): two passes. On their way to a GPU they pass once.
constexpr std::uint32_t passes_in_memory = 2, passes_through = 1;

int divided_up(int dividend, int divisor) { return (dividend + divisor - 1) / divisor; }

ParameterId intra_node_parameter(const Cluster& cluster, const char* fabric, BytesPerSecond rate,
                                 ParameterTable& parameters) {
  return parameters.add({fmt::format("{} bandwidth of {}", fabric, cluster.machine.device), cluster.intra_node_spread,
                         cluster.intra_node_provenance, cluster.intra_node_source, rate.value / 1e9, "GB/s"});
}

ParameterId network_parameter(const Cluster& cluster, ParameterTable& parameters) {
  const calibrate::NetworkKind& network = *cluster.network;
  return parameters.add({fmt::format("network achieved fraction of {}", network.name), network.achieved_spread,
                         cluster.achieved_fraction_given ? Provenance::given : Provenance::fitted,
                         cluster.achieved_fraction_given ? "scenario" : network.source,
                         cluster.network_achieved_fraction, "of line rate"});
}

BytesPerSecond node_rate(const Cluster& cluster) {
  return *cluster.machine.inter_node_bandwidth * cluster.network_achieved_fraction;
}

}  // namespace

Topology::Topology(const Cluster& cluster, ParameterTable& parameters, const std::optional<ServerLinks>& servers)
    : link_kinds_(kind_names()),
      gpus_per_node_(cluster.machine.gpus),
      nodes_(cluster.nodes + (servers ? servers->nodes_apart : 0)) {
  std::vector<Link> block;
  append_intra_node(block, cluster, parameters);
  if (servers) append_host(block, *servers);
  if (nodes_ == 1) {
    links_ = std::move(block);
    return;
  }
  const ParameterId network = network_parameter(cluster, parameters);
  append_nics(block, cluster, network);
  if (servers) {
    server_nics_ = append(block, nics_per_node_, server_nic_out,
                          node_rate(cluster) * servers->network_share / nics_per_node_, servers->network_parameter);
  }
  links_per_node_ = static_cast<std::uint32_t>(block.size());
  links_.reserve(block.size() * static_cast<std::size_t>(nodes_));
  for (int node = 0; node < nodes_; ++node) links_.insert(links_.end(), block.begin(), block.end());
  add_leaves(cluster, network);
}

Topology::Section Topology::append(std::vector<Link>& block, int items, std::uint32_t kind_out, BytesPerSecond capacity,
                                   ParameterId parameter) {
  const Section section{items, static_cast<std::uint32_t>(block.size())};
  for (int item = 0; item < items; ++item) {
    block.push_back({capacity, parameter, kind_out});
    block.push_back({capacity, parameter, kind_out + 1});
  }
  return section;
}

void Topology::append_intra_node(std::vector<Link>& block, const Cluster& cluster, ParameterTable& parameters) {
  const IntraNode kind = cluster.machine.intra_node;
  // resolve_cluster sees to it that the rate is known where more than one GPU of a node is used.
  if (kind == IntraNode::none || gpus_per_node_ == 1 || !cluster.machine.intra_node_bandwidth) return;
  const BytesPerSecond best = *cluster.machine.intra_node_bandwidth * cluster.intra_node_achieved_fraction;
  pairs_ = kind == IntraNode::nvlink_pairs;
  if (kind != IntraNode::pcie) {
    nvlink_ =
        append(block, gpus_per_node_, nvlink_out, best, intra_node_parameter(cluster, "NVLink", best, parameters));
  }
  if (kind != IntraNode::pcie && !(pairs_ && cluster.pcie_bandwidth)) return;
  const BytesPerSecond port = pairs_ ? *cluster.pcie_bandwidth : best;
  const ParameterId pcie = intra_node_parameter(cluster, "PCIe", port, parameters);
  gpus_per_switch_ = std::min(most_gpus_per_switch, divided_up(gpus_per_node_, sockets));
  pcie_ = append(block, gpus_per_node_, pcie_out, port, pcie);
  switches_ = append(block, divided_up(gpus_per_node_, gpus_per_switch_), switch_up, port, pcie);
}

void Topology::append_nics(std::vector<Link>& block, const Cluster& cluster, ParameterId network) {
  assert(cluster.machine.inter_node_bandwidth && cluster.machine.nics > 0);
  nics_per_node_ = cluster.machine.nics;
  Link nic{node_rate(cluster) / nics_per_node_, network, nic_out};
  // A NIC sits in a slot like those of the GPUs; where they are PCIe cards, that slot may be the narrower one.
  if (pcie_.items > 0) {
    const Link& slot = block[pcie_.first];
    if (slot.capacity < nic.capacity) nic = {slot.capacity, slot.parameter, nic_out};
  }
  nics_ = append(block, nics_per_node_, nic_out, nic.capacity, nic.parameter);
}

// Taken for granted: where GPUs are joined by NVLink, what several of them share on the way to their host is no
// narrower than the host.
void Topology::append_host(std::vector<Link>& block, const ServerLinks& servers) {
  if (pcie_.items == 0 && servers.pcie_rate) {
    host_ports_ = append(block, gpus_per_node_, host_port_out, *servers.pcie_rate, servers.pcie_parameter);
  }
  host_passes_ = servers.variables_on_gpu ? passes_through : passes_in_memory;
  hosts_ = {1, static_cast<std::uint32_t>(block.size())};
  block.push_back({servers.host_rate * passes_in_memory, servers.host_parameter, host_memory_access});
}

void Topology::add_leaves(const Cluster& cluster, ParameterId network) {
  nodes_per_leaf_ = cluster.nodes_per_leaf;
  if (nodes_per_leaf_ == 0) return;
  const BytesPerSecond capacity = node_rate(cluster) * (nodes_per_leaf_ / cluster.oversubscription);
  append(links_, divided_up(nodes_, nodes_per_leaf_), leaf_up, capacity, network);
}

LinkUse Topology::use(int node, const Section& section, int item, bool in) const {
  assert(node >= 0 && node < nodes_ && item >= 0 && item < section.items);
  return {static_cast<std::uint32_t>(node) * links_per_node_ + section.first + 2u * static_cast<std::uint32_t>(item) +
              (in ? 1u : 0u),
          1};
}

std::vector<int> Topology::nics_of(int rank) const {
  const std::int64_t gpu = rank % gpus_per_node_;
  const auto nic_at = [&](std::int64_t index) { return static_cast<int>(index * nics_per_node_ / gpus_per_node_); };
  std::vector<int> nics;
  for (int nic = nic_at(gpu); nic < std::max(nic_at(gpu) + 1, nic_at(gpu + 1)); ++nic) nics.push_back(nic);
  return nics;
}

Route Topology::intra_node_route(int from_rank, int to_rank) const {
  const int node = node_of(from_rank), from = from_rank % gpus_per_node_, to = to_rank % gpus_per_node_;
  assert(node == node_of(to_rank) && from != to);
  if (nvlink_.items > 0 && (!pairs_ || from / 2 == to / 2)) {
    return {use(node, nvlink_, from, false), use(node, nvlink_, to, true)};
  }
  Route route = {use(node, pcie_, from, false)};
  const int from_switch = from / gpus_per_switch_, to_switch = to / gpus_per_switch_;
  if (from_switch != to_switch) {
    route.push_back(use(node, switches_, from_switch, false));
    route.push_back(use(node, switches_, to_switch, true));
  }
  route.push_back(use(node, pcie_, to, true));
  return route;
}

Route Topology::inter_node_route(int from_node, int from_nic, int to_node, int to_nic) const {
  assert(from_node != to_node);
  Route route = {use(from_node, nics_, from_nic, false)};
  if (nodes_per_leaf_ > 0 && from_node / nodes_per_leaf_ != to_node / nodes_per_leaf_) {
    const std::uint32_t leaves = static_cast<std::uint32_t>(nodes_) * links_per_node_;
    route.push_back({leaves + 2u * static_cast<std::uint32_t>(from_node / nodes_per_leaf_), 1});
    route.push_back({leaves + 2u * static_cast<std::uint32_t>(to_node / nodes_per_leaf_) + 1u, 1});
  }
  route.push_back(use(to_node, nics_, to_nic, true));
  return route;
}

Route Topology::host_route(int rank, bool up) const {
  const int node = node_of(rank), gpu = rank % gpus_per_node_;
  if (host_ports_.items > 0) return {use(node, host_ports_, gpu, !up)};
  if (pcie_.items == 0) return {};
  return {use(node, pcie_, gpu, !up), use(node, switches_, gpu / gpus_per_switch_, !up)};
}

LinkUse Topology::host_memory(int node) const { return {use(node, hosts_, 0, false).link, host_passes_}; }

Route Topology::server_route(int from_node, int from_nic, int to_node, int to_nic) const {
  Route route = inter_node_route(from_node, from_nic, to_node, to_nic);
  route.push_back(use(from_node, server_nics_, from_nic, false));
  route.push_back(use(to_node, server_nics_, to_nic, true));
  return route;
}

bool Topology::is_pcie(std::uint32_t link) const {
  const std::uint32_t kind = links_[link].kind;
  return kind >= pcie_out && kind <= switch_down;
}

}  // namespace foretrain::sim
