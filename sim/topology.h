// Topology: a cluster as links with capacities, and the links each hop crosses.
//
// Links are directed. Each GPU has a port into what joins the GPUs of its node (NVSwitch, NVLink pair,
// NVLink mesh, PCIe), PCIe switches have uplinks, each NIC has both directions, each leaf switch has an
// aggregate up- and downlink when the fabric is oversubscribed. Routes are arithmetic: no table grows
// with ranks². Capacities are what large transfers achieve, each tied to its parameter. Only nodes in
// use are built. Parameter servers add the memory of each host, ports of GPUs towards it, nodes of their own, and
// beside each NIC what their software reaches of it.
//
// Taken for granted: a PCIe switch joins up to four GPUs and goes up by one slot like theirs, the root is
// wide enough; between GPU and NIC only the NIC's own PCIe slot can be narrower than the NIC; a leaf's
// uplinks achieve the share of their rate that NICs do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "sim/cluster.h"
#include "sim/server_links.h"

namespace foretrain::sim {

struct Link {
  BytesPerSecond capacity;
  ParameterId parameter;
  std::uint32_t kind = 0;  // index into Topology::link_kinds(): "NVLink port out", "NIC in", …
};

struct LinkUse {
  std::uint32_t link = 0;
  std::uint32_t weight = 1;  // capacity that one unit of rate takes; more than 1 only in folded jobs
  friend bool operator==(LinkUse, LinkUse) = default;
};
using Route = std::vector<LinkUse>;

class Topology {
 public:
  // The parameters of the links' rates are added to `parameters`.
  Topology(const Cluster& cluster, ParameterTable& parameters, const std::optional<ServerLinks>& servers = {});

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::string>& link_kinds() const { return link_kinds_; }
  [[nodiscard]] int node_of(int rank) const { return rank / gpus_per_node_; }
  [[nodiscard]] int gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] int nics_per_node() const { return nics_per_node_; }
  // NICs (0…nics_per_node-1) next to the GPU `rank`; every GPU has at least one, several GPUs may share one.
  [[nodiscard]] std::vector<int> nics_of(int rank) const;

  // GPU to GPU inside one node.
  [[nodiscard]] Route intra_node_route(int from_rank, int to_rank) const;
  // NIC to NIC between two nodes, with leaf up- and downlink when they are under different leaves.
  [[nodiscard]] Route inter_node_route(int from_node, int from_nic, int to_node, int to_nic) const;

  // Of a topology with parameter servers: between a GPU and its host (up or down; empty where nothing limits it),
  // the memory of a host, and NIC to NIC for their software.
  [[nodiscard]] Route host_route(int rank, bool up) const;
  [[nodiscard]] LinkUse host_memory(int node) const;
  [[nodiscard]] Route server_route(int from_node, int from_nic, int to_node, int to_nic) const;

  // With those of parameter servers.
  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] bool is_pcie(std::uint32_t link) const;

 private:
  // Part of a node's block of links: one link out and one in per item (GPU, PCIe switch, NIC).
  struct Section {
    int items = 0;
    std::uint32_t first = 0;  // offset in the block
  };
  static Section append(std::vector<Link>& block, int items, std::uint32_t kind_out, BytesPerSecond capacity,
                        ParameterId parameter);
  void append_intra_node(std::vector<Link>& block, const Cluster& cluster, ParameterTable& parameters);
  void append_nics(std::vector<Link>& block, const Cluster& cluster, ParameterId network);
  void append_host(std::vector<Link>& block, const ServerLinks& servers);
  void add_leaves(const Cluster& cluster, ParameterId network);
  [[nodiscard]] LinkUse use(int node, const Section& section, int item, bool in) const;

  std::vector<Link> links_;
  std::vector<std::string> link_kinds_;
  int gpus_per_node_ = 1;
  int nics_per_node_ = 0;
  int nodes_ = 1;
  int nodes_per_leaf_ = 0;  // 0 = non-blocking fabric, no leaf links
  int gpus_per_switch_ = 1;
  bool pairs_ = false;  // NVLink joins only GPUs 2k and 2k+1
  // The links of node k are [k·links_per_node_, (k+1)·links_per_node_), section by section; leaves follow all nodes.
  std::uint32_t links_per_node_ = 0;
  Section nvlink_, pcie_, switches_, nics_;
  // For parameter servers: ports towards the host where pcie_ has none, their share of the NICs, the host's memory.
  Section host_ports_, server_nics_, hosts_;
  std::uint32_t host_passes_ = 1;  // of a byte through the host
};

}  // namespace foretrain::sim
