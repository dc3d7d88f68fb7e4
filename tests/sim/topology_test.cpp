#include "sim/topology.h"

#include <chrono>
#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/sim/test_network.h"

namespace foretrain::sim {
namespace {

using calibrate::IntraNode;

std::vector<std::string> kinds(const Route& route, const Topology& topology) {
  std::vector<std::string> names;
  for (const LinkUse& use : route) names.push_back(topology.link_kinds()[topology.links()[use.link].kind]);
  return names;
}

double gbytes(const Topology& topology, const LinkUse& use) { return topology.links()[use.link].capacity.value / 1e9; }

TEST_CASE("NVSwitch: every pair of GPUs meets only its own two ports") {
  TestNetwork test(8, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  CHECK(topology.links().size() == 16);  // 8 ports, both directions; one node needs no NICs
  std::set<std::uint32_t> used;
  for (int from = 0; from < 8; ++from) {
    const Route route = topology.intra_node_route(from, (from + 1) % 8);
    CHECK(kinds(route, topology) == std::vector<std::string>{"NVLink port out", "NVLink port in"});
    CHECK(gbytes(topology, route[0]) == Approx(100));
    for (const LinkUse& use : route) CHECK(used.insert(use.link).second);
  }
}

TEST_CASE("What large transfers achieve inside a node scales the ports") {
  TestNetwork test(8, 8, IntraNode::nvlink_hybrid_cube_mesh, 8);
  test.cluster.intra_node_achieved_fraction = 0.9;
  const Topology topology = test.topology();
  CHECK(gbytes(topology, topology.intra_node_route(0, 5)[0]) == Approx(90));  // 0.9 · 100
  CHECK(test.parameters.rows().front().name == "NVLink bandwidth of test GPU");
  CHECK(test.parameters.rows().front().value == Approx(90));
}

TEST_CASE("NVLink pairs: a bridge inside the pair, PCIe to everybody else") {
  TestNetwork test(4, 4, IntraNode::nvlink_pairs, 1);
  const Topology topology = test.topology();
  CHECK(kinds(topology.intra_node_route(2, 3), topology) ==
        std::vector<std::string>{"NVLink port out", "NVLink port in"});
  // 4 GPUs on two sockets: switches {0, 1} and {2, 3}.
  const Route across = topology.intra_node_route(1, 2);
  CHECK(kinds(across, topology) ==
        std::vector<std::string>{"PCIe port out", "PCIe switch uplink", "PCIe switch downlink", "PCIe port in"});
  for (const LinkUse& use : across) {
    CHECK(gbytes(topology, use) == Approx(20));
    CHECK(topology.is_pcie(use.link));
  }
  CHECK_FALSE(topology.is_pcie(topology.intra_node_route(0, 1)[0].link));
}

TEST_CASE("PCIe tree: up to four GPUs share a switch and its uplink") {
  for (const auto& [gpus, switches] : std::vector<std::pair<int, int>>{{2, 2}, {4, 2}, {8, 2}, {16, 4}}) {
    TestNetwork test(gpus, gpus, IntraNode::pcie, 1);
    const Topology topology = test.topology();
    CHECK(topology.links().size() == static_cast<std::size_t>(2 * gpus + 2 * switches));
    // Neighbours under one switch use ports only; the first and the last GPU never share one.
    CHECK(topology.intra_node_route(0, gpus - 1).size() == 4);
    if (gpus > 2) CHECK(topology.intra_node_route(0, 1).size() == 2);
  }
}

TEST_CASE("NICs: fewer than GPUs are shared by neighbours, more are divided evenly") {
  const auto nics_of = [](int nics, int rank) {
    TestNetwork test(16, 8, IntraNode::nvswitch, nics);
    return test.topology().nics_of(rank);
  };
  CHECK(nics_of(1, 7) == std::vector<int>{0});
  CHECK(nics_of(2, 3) == std::vector<int>{0});
  CHECK(nics_of(2, 4) == std::vector<int>{1});
  CHECK(nics_of(4, 8 + 5) == std::vector<int>{2});  // rank 13 is GPU 5 of node 1
  CHECK(nics_of(8, 6) == std::vector<int>{6});
  CHECK(nics_of(16, 3) == std::vector<int>{6, 7});
  CHECK(nics_of(32, 1) == std::vector<int>{4, 5, 6, 7});
  CHECK(nics_of(3, 2) == std::vector<int>{0});  // 8 GPUs on 3 NICs: 3 + 3 + 2
  CHECK(nics_of(3, 3) == std::vector<int>{1});
  CHECK(nics_of(3, 7) == std::vector<int>{2});
}

TEST_CASE("NICs share the node's achieved rate") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 4);
  const Topology topology = test.topology();
  CHECK(topology.links().size() == 2 * (2 * 8 + 2 * 4));
  const Route route = topology.inter_node_route(0, 3, 1, 2);
  CHECK(kinds(route, topology) == std::vector<std::string>{"NIC out", "NIC in"});
  CHECK(gbytes(topology, route[0]) == Approx(10));  // 50 GB/s · 0.8 / 4
  const Parameter& parameter = test.parameters.at(topology.links()[route[0].link].parameter);
  CHECK(parameter.name == "network achieved fraction of test network");
  CHECK(parameter.value == Approx(0.8));
}

TEST_CASE("A NIC in a node of PCIe cards passes no more than its slot") {
  TestNetwork test(8, 4, IntraNode::pcie, 1);
  const Topology topology = test.topology();
  const LinkUse nic = topology.inter_node_route(0, 0, 1, 0)[0];
  CHECK(gbytes(topology, nic) == Approx(20));  // not 40
  CHECK(test.parameters.at(topology.links()[nic.link].parameter).name == "PCIe bandwidth of test GPU");
}

TEST_CASE("Leaf switches: only routes between leaves meet the aggregate up- and downlink") {
  TestNetwork test(64, 8, IntraNode::nvswitch, 8);
  test.cluster.nodes_per_leaf = 4;
  test.cluster.oversubscription = 2;
  const Topology topology = test.topology();
  CHECK(topology.inter_node_route(0, 0, 3, 0).size() == 2);
  const Route across = topology.inter_node_route(3, 0, 4, 0);
  CHECK(kinds(across, topology) == std::vector<std::string>{"NIC out", "leaf uplink", "leaf downlink", "NIC in"});
  CHECK(gbytes(topology, across[1]) == Approx(80));              // 4 nodes · 40 GB/s / 2
  CHECK(topology.inter_node_route(0, 1, 7, 1)[1] == across[1]);  // the same uplink for all of leaf 0
  CHECK(topology.inter_node_route(4, 0, 0, 0)[1].link != across[1].link);
}

TEST_CASE("A partly used last node is built like the others") {
  TestNetwork test(11, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  CHECK(topology.nodes() == 2);
  CHECK(topology.node_of(10) == 1);
  CHECK(topology.links().size() == 2 * 32);
}

TEST_CASE("65,536 GPUs are built in a blink and a few MB") {
  TestNetwork test(65536, 8, IntraNode::nvswitch, 8);
  test.cluster.nodes_per_leaf = 32;
  const auto start = std::chrono::steady_clock::now();
  const Topology topology = test.topology();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  CHECK(elapsed.count() < 0.3);
  // 8192 nodes · (8 ports + 8 NICs) · 2 directions, and 256 leaves · 2.
  CHECK(topology.links().size() == 8192 * 32 + 512);
  CHECK(topology.links().size() * sizeof(Link) < 8u << 20);
}

}  // namespace
}  // namespace foretrain::sim
