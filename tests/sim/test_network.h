// A cluster in round numbers, written by hand: NVLink 100 GB/s per GPU, PCIe 20 GB/s, 50 GB/s of line rate per
// node of which 80 % = 40 GB/s is achieved; steps of 2 µs (NVLink), 5 µs (PCIe) and 10 µs (network hop), 10 and
// 12 µs once per ring and tree. With parameter servers: 30 GB/s of a host, 10 GB/s between a GPU and its host, half of
// what a NIC achieves, so that a node passes 20 GB/s.
#pragma once

#include <optional>
#include <vector>

#include "sim/collectives.h"

namespace foretrain::sim {

struct TestNetwork {
  calibrate::NetworkKind network;
  calibrate::CollectiveConstants constants;
  std::vector<calibrate::CollectiveTable> tables;
  Cluster cluster;
  ParameterTable parameters;
  std::optional<ServerLinks> servers;

  TestNetwork(int gpus, int gpus_per_node, calibrate::IntraNode intra_node, int nics) {
    network.name = "test network";
    network.achieved_fraction = 0.8;
    network.hop_latency = microseconds(10);
    constants.ring_base = microseconds(10);
    constants.tree_base = microseconds(12);
    constants.nvlink_step = microseconds(2);
    constants.pcie_step = microseconds(5);
    cluster.machine.device = "test GPU";
    cluster.machine.gpus = gpus_per_node;
    cluster.machine.intra_node = intra_node;
    cluster.machine.intra_node_bandwidth = gbytes_per_s(intra_node == calibrate::IntraNode::pcie ? 20 : 100);
    cluster.machine.nics = nics;
    cluster.machine.inter_node_bandwidth = gbytes_per_s(50);
    cluster.pcie_bandwidth = gbytes_per_s(20);
    cluster.network = &network;
    cluster.network_achieved_fraction = network.achieved_fraction;
    cluster.gpus = gpus;
    cluster.nodes = (gpus + gpus_per_node - 1) / gpus_per_node;
  }
  TestNetwork(const TestNetwork&) = delete;
  TestNetwork& operator=(const TestNetwork&) = delete;

  void add_servers(int nodes_apart = 0) {
    servers.emplace();
    servers->nodes_apart = nodes_apart;
    servers->host_rate = gbytes_per_s(30);
    servers->host_parameter = parameters.add({"host memory", 0, Provenance::given, "test", 30, "GB/s"});
    servers->network_share = 0.5;
    servers->network_parameter = parameters.add({"server share", 0, Provenance::given, "test", 0.5, ""});
    servers->pcie_rate = gbytes_per_s(10);
    servers->pcie_parameter = parameters.add({"PCIe to host", 0, Provenance::given, "test", 10, "GB/s"});
  }
  [[nodiscard]] Topology topology() { return Topology(cluster, parameters, servers); }
  [[nodiscard]] CollectiveCosts costs(const Topology& topology) {
    return CollectiveCosts(cluster, topology, constants, tables, parameters);
  }
};

// `count` ranks from `first` on, `stride` apart.
inline std::vector<int> ranks(int first, int count, int stride = 1) {
  std::vector<int> group;
  for (int i = 0; i < count; ++i) group.push_back(first + i * stride);
  return group;
}

}  // namespace foretrain::sim
