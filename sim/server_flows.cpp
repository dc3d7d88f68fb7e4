#include "sim/server_flows.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;

// Where bytes leave a client: a rank's GPU, or the memory of its host.
struct Port {
  int node = 0;
  std::vector<int> nics;
  int rank = -1;       // -1 = the host's memory
  double share = 1.0;  // of the bytes of the operation
};

std::set<int> nics_of(const std::vector<int>& ranks, const Topology& topology) {
  std::set<int> nics;
  for (const int rank : ranks) {
    for (const int nic : topology.nics_of(rank)) nics.insert(nic);
  }
  return nics;
}

std::map<int, std::vector<int>> ranks_by_node(const std::vector<int>& group, const Topology& topology) {
  std::map<int, std::vector<int>> nodes;
  for (const int rank : group) nodes[topology.node_of(rank)].push_back(rank);
  return nodes;
}

std::vector<Port> ports_of(const std::vector<int>& group, Client client, const Topology& topology) {
  std::vector<Port> ports;
  for (const auto& [node, ranks] : ranks_by_node(group, topology)) {
    if (client == Client::host) {
      const std::set<int> nics = nics_of(ranks, topology);
      ports.push_back({node, {nics.begin(), nics.end()}, -1, 1.0});
      continue;
    }
    const double share = client == Client::node ? 1.0 / static_cast<double>(ranks.size()) : 1.0;
    for (const int rank : ranks) ports.push_back({node, topology.nics_of(rank), rank, share});
  }
  return ports;
}

std::vector<int> servers_of(const std::vector<int>& group, const Communicator& communicator, const Topology& topology) {
  if (!communicator.server_nodes.empty()) return communicator.server_nodes;
  std::vector<int> own;
  for (const auto& [node, ranks] : ranks_by_node(group, topology)) own.push_back(node);
  return own;
}

void append(Route& route, const Route& more) { route.insert(route.end(), more.begin(), more.end()); }

// One way of an exchange between a client's port and a server; a port with several NICs uses all of them evenly.
void add_exchange(CollectiveKind kind, const Port& port, int server_node, double share, const Topology& topology,
                  std::vector<FlowTemplate>& flows) {
  const bool push = kind == CollectiveKind::push;
  const Route inside = port.rank < 0 ? Route{} : topology.host_route(port.rank, push);
  const LinkUse memory = topology.host_memory(server_node);
  if (port.node == server_node) {
    Route route = inside;
    route.push_back(memory);
    flows.push_back({std::move(route), share, false, kind});
    return;
  }
  for (const int nic : port.nics) {
    Route route = inside;
    append(route, push ? topology.server_route(port.node, nic, server_node, nic)
                       : topology.server_route(server_node, nic, port.node, nic));
    route.push_back(memory);
    flows.push_back({std::move(route), share / static_cast<double>(port.nics.size()), true, kind});
  }
}

}  // namespace

std::vector<FlowTemplate> server_flows(const std::vector<int>& group, const Communicator& communicator,
                                       const Topology& topology) {
  assert(communicator.pattern == Pattern::servers);
  const std::vector<int> servers = servers_of(group, communicator, topology);
  const std::vector<Port> ports = ports_of(group, communicator.client, topology);
  const double part = 1.0 / static_cast<double>(servers.size());
  std::vector<FlowTemplate> flows;
  for (const int server : servers) {
    for (const CollectiveKind kind : {CollectiveKind::push, CollectiveKind::pull}) {
      for (const Port& port : ports) add_exchange(kind, port, server, port.share * part, topology, flows);
    }
    flows.push_back({{topology.host_memory(server)}, part, false, CollectiveKind::update});
  }
  return flows;
}

GroupShape server_shape(const std::vector<int>& group, const Communicator& communicator, const Topology& topology,
                        const std::vector<FlowTemplate>& flows) {
  const std::map<int, std::vector<int>> by_node = ranks_by_node(group, topology);
  std::set<int> nodes;
  for (const int server : servers_of(group, communicator, topology)) nodes.insert(server);
  GroupShape shape;
  shape.servers = true;
  shape.ranks = static_cast<int>(group.size());
  for (const auto& [node, ranks] : by_node) {
    nodes.insert(node);
    shape.ranks_per_node = std::max(shape.ranks_per_node, static_cast<int>(ranks.size()));
  }
  shape.nodes = static_cast<int>(nodes.size());
  const MostLoaded exchange = most_loaded(
      flows, [](const FlowTemplate& flow) { return flow.only_for == CollectiveKind::push; }, topology);
  const MostLoaded update = most_loaded(
      flows, [](const FlowTemplate& flow) { return flow.only_for == CollectiveKind::update; }, topology);
  shape.exchange_rate = exchange.rate;
  shape.exchange_parameter = exchange.parameter;
  shape.update_rate = update.rate;
  shape.update_parameter = update.parameter;
  return shape;
}

}  // namespace foretrain::sim
