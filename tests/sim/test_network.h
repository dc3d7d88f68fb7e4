// A cluster in round numbers, written by hand: NVLink 100 GB/s per GPU, PCIe 20 GB/s, 50 GB/s of line rate per
// node of which 80 % = 40 GB/s is achieved; steps of 2 µs (NVLink), 5 µs (PCIe) and 10 µs (network hop), 10 and
// 12 µs once per ring and tree.
#pragma once

#include <vector>

#include "sim/collectives.h"

namespace foretrain::sim {

struct TestNetwork {
  calibrate::NetworkKind network;
  calibrate::CollectiveConstants constants;
  std::vector<calibrate::CollectiveTable> tables;
  Cluster cluster;
  ParameterTable parameters;

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

  [[nodiscard]] Topology topology() { return Topology(cluster, parameters); }
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
