// Exchanges with parameter servers: closed forms of their time as consequences of the links.
#include "sim/server_flows.h"

#include <algorithm>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/sim/test_network.h"

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;
using calibrate::IntraNode;

constexpr double gb = 1e9;

Communicator star(std::vector<int> server_nodes, Client client = Client::rank) {
  Communicator communicator{"servers", {}, Pattern::servers};
  communicator.server_nodes = std::move(server_nodes);
  communicator.client = client;
  return communicator;
}

GroupShape shape(TestNetwork& test, const Communicator& communicator) {
  const Topology topology = test.topology();
  // Every node has a server of its own for its own GPUs, or one group has them all.
  const bool own = communicator.server_nodes.empty();
  const std::vector<int> group = ranks(0, own ? test.cluster.machine.gpus : test.cluster.gpus);
  return server_shape(group, communicator, topology, server_flows(group, communicator, topology));
}

// Seconds of a push (and of a pull) of so many bytes by every client, all alone and without latency.
double exchange_seconds(TestNetwork& test, const Communicator& communicator, double bytes) {
  return bytes / shape(test, communicator).exchange_rate.value;
}

std::vector<std::string> kinds(const Route& route, const Topology& topology) {
  std::vector<std::string> names;
  for (const LinkUse& use : route) names.push_back(topology.link_kinds()[topology.links()[use.link].kind]);
  return names;
}

TEST_CASE("A push leaves the GPU, the node, and ends in the memory of the server's host, and a pull comes back") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 8);
  test.add_servers();
  const Topology topology = test.topology();
  const std::vector<FlowTemplate> flows = server_flows({8}, star({0}), topology);
  REQUIRE(flows.size() == 3);
  CHECK(flows[0].only_for == CollectiveKind::push);
  CHECK(kinds(flows[0].route, topology) == std::vector<std::string>{"PCIe port to host", "NIC out", "NIC in",
                                                                    "server share of NIC out", "server share of NIC in",
                                                                    "host memory"});
  CHECK(flows[0].between_nodes);
  CHECK(flows[1].only_for == CollectiveKind::pull);
  CHECK(kinds(flows[1].route, topology) == std::vector<std::string>{"PCIe port from host", "NIC out", "NIC in",
                                                                    "server share of NIC out", "server share of NIC in",
                                                                    "host memory"});
  // The pull leaves by the NIC of the server's node, through which the push came.
  CHECK(flows[1].route[1].link + 1 == flows[0].route[2].link);
  CHECK(flows[1].route.back().link == flows[0].route.back().link);  // one memory for both ways
  CHECK(flows[2].only_for == CollectiveKind::update);
  CHECK(kinds(flows[2].route, topology) == std::vector<std::string>{"host memory"});
}

TEST_CASE("Exchanges with servers have names, and no measured table has them") {
  CHECK(calibrate::to_string(CollectiveKind::push) == std::string("push"));
  CHECK(calibrate::to_string(CollectiveKind::pull) == std::string("pull"));
  CHECK(calibrate::to_string(CollectiveKind::update) == std::string("update"));
  CHECK(calibrate::to_string(CollectiveKind::send_receive) == std::string("send_receive"));
  const std::vector<std::string>& measured = calibrate::collective_kind_names();
  CHECK(std::find(measured.begin(), measured.end(), "push") == measured.end());
  for (int kind = 0; kind < static_cast<int>(measured.size()); ++kind) {
    CHECK_FALSE(calibrate::is_with_servers(static_cast<CollectiveKind>(kind)));
  }
}

TEST_CASE("A server on the worker's own node is reached without NICs") {
  TestNetwork test(16, 8, IntraNode::pcie, 1);
  test.add_servers();
  const Topology topology = test.topology();
  const std::vector<FlowTemplate> flows = server_flows({2}, star({0}), topology);
  CHECK(kinds(flows[0].route, topology) ==
        std::vector<std::string>{"PCIe port out", "PCIe switch uplink", "host memory"});
  CHECK(kinds(flows[1].route, topology) ==
        std::vector<std::string>{"PCIe port in", "PCIe switch downlink", "host memory"});
}

// Of a push of S by L workers on each of N nodes with a NIC of B = 20 GB/s (half of the 40 achieved), memory H = 30
// GB/s and P = 10 GB/s between a GPU and its host.
TEST_CASE("Closed forms: variables whole or spread, servers on the workers' nodes or apart") {
  constexpr double bytes = 1e9, nic = 20 * gb, host = 30 * gb, port = 10 * gb;
  for (const int nodes : {2, 3, 4, 8}) {
    for (const int local : {1, 2, 4, 8}) {
      const double n = nodes, l = local;
      CAPTURE(nodes, local);
      TestNetwork together(nodes * local, local, IntraNode::nvswitch, 1);
      together.add_servers();
      // Spread over servers on all nodes: L·S·(N-1)/N through each NIC and each way, L·S into each memory.
      CHECK(exchange_seconds(together, star(ranks(0, nodes)), bytes) ==
            Approx(bytes * std::max({l * (n - 1) / n / nic, l / host, 1 / port})).epsilon(1e-12));
      // Whole on one of them: its NIC takes (N-1)·L·S, its memory N·L·S.
      CHECK(exchange_seconds(together, star({nodes - 1}), bytes) ==
            Approx(bytes * std::max({(n - 1) * l / nic, n * l / host, 1 / port})).epsilon(1e-12));
      for (const int servers : {1, 2, 4}) {
        TestNetwork apart(nodes * local, local, IntraNode::nvswitch, 1);
        apart.add_servers(servers);
        const double m = servers;
        // Apart and spread over M: L·S out of each worker's node, N·L·S/M into each server's.
        CHECK(exchange_seconds(apart, star(ranks(nodes, servers)), bytes) ==
              Approx(bytes * std::max({l / nic, n * l / m / nic, n * l / m / host, 1 / port})).epsilon(1e-12));
        // Whole on one: N·L·S into it.
        CHECK(exchange_seconds(apart, star({nodes}), bytes) ==
              Approx(bytes * std::max({n * l / nic, n * l / host, 1 / port})).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("Summed inside a node first, a node sends once") {
  constexpr double bytes = 1e9, nic = 20 * gb, host = 30 * gb, port = 10 * gb;
  for (const int nodes : {2, 4}) {
    TestNetwork test(nodes * 8, 8, IntraNode::nvswitch, 4);
    test.add_servers();
    const double n = nodes;
    // From its 8 GPUs, an eighth each.
    CHECK(exchange_seconds(test, star(ranks(0, nodes), Client::node), bytes) ==
          Approx(bytes * std::max({(n - 1) / n / nic, 1 / host, 1 / (8 * port)})).epsilon(1e-12));
    // From its host: no port of a GPU.
    CHECK(exchange_seconds(test, star(ranks(0, nodes), Client::host), bytes) ==
          Approx(bytes * std::max((n - 1) / n / nic, 1 / host)).epsilon(1e-12));
    // The sum in the host of each node: 8·S into each memory.
    CHECK(exchange_seconds(test, star({}), bytes) == Approx(bytes * std::max(8 / host, 1 / port)).epsilon(1e-12));
  }
}

TEST_CASE("One node: push and pull of L GPUs take 2·L·S over the host's rate, half of that on GPUs") {
  for (const int local : {4, 8}) {
    TestNetwork test(local, local, IntraNode::nvswitch, 1);
    test.add_servers();
    // 4·S/30 is more than S/10 already.
    CHECK(2 * exchange_seconds(test, star({0}), 1e9) == Approx(2 * local * 1e9 / (30 * gb)).epsilon(1e-12));
    test.servers->pcie_rate = gbytes_per_s(30);
    test.servers->variables_on_gpu = true;
    CHECK(2 * exchange_seconds(test, star({0}), 1e9) == Approx(2 * local * 1e9 / (30 * gb * 2)).epsilon(1e-12));
  }
}

TEST_CASE("The 411 MB of VGG-16's first dense layer on one server: 32 workers wait for seconds") {
  // A NIC of 12.5 GB/s of which servers reach 4.4: 2·32·411 MB / 4.4 GB/s = 6 s per step (a worker per node).
  TestNetwork test(32, 1, IntraNode::none, 1);
  test.add_servers(1);
  test.cluster.machine.inter_node_bandwidth = gbytes_per_s(12.5);
  test.servers->network_share = 4.4 / (12.5 * 0.8);
  CHECK(2 * exchange_seconds(test, star({32}), 411e6) == Approx(5.978).epsilon(1e-3));
}

TEST_CASE("A partly used last node and unequal servers: the most loaded link decides") {
  // 5 workers: 4 and 1. Spread over both nodes' servers: node 0 sends 4·S/2, memory of each takes 5·S/2.
  TestNetwork test(5, 4, IntraNode::nvswitch, 1);
  test.add_servers();
  CHECK(exchange_seconds(test, star({0, 1}), 1e9) == Approx(std::max({2e9 / (20 * gb), 2.5e9 / (30 * gb), 0.1})));
  // Two of three servers on node 0 and one on node 1: its memory takes 2/3 of 5·S, its NIC sends 4/3 S.
  CHECK(exchange_seconds(test, star({0, 1, 0}), 1e9) == Approx(5e9 * 2 / 3 / (30 * gb)));
}

TEST_CASE("An update is its bytes over the memories that hold the variables") {
  TestNetwork test(8, 4, IntraNode::nvswitch, 1);
  test.add_servers();
  CHECK(shape(test, star({0})).update_rate.value == Approx(30 * gb));
  CHECK(shape(test, star({0, 1})).update_rate.value == Approx(60 * gb));
}

TEST_CASE("The shape counts nodes with their servers, and one rank is not idle") {
  TestNetwork test(4, 4, IntraNode::nvswitch, 1);
  test.add_servers(2);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const Communicator communicator = star({1, 2});
  const GroupShape one = server_shape({3}, communicator, topology, server_flows({3}, communicator, topology));
  CHECK(one.servers);
  CHECK(one.ranks == 1);
  CHECK(one.nodes == 3);
  const CollectivePlan plan = costs.plan(CollectiveKind::push, Bytes(1e9), one);
  // A request and its answer are two hops of 10 µs; 1 GB over a port of 10 GB/s, and its parameter.
  CHECK(plan.alpha.time.value == Approx(20e-6));
  CHECK(plan.alone.time.value == Approx(20e-6 + 0.1));
  CHECK(test.parameters.at(plan.alone.parameter).name == "PCIe to host");
  CHECK(costs.plan(CollectiveKind::update, Bytes(6e9), one).alone.time.value == Approx(0.1));  // two memories
}

TEST_CASE("Alone is what the flows of each kind take on their links") {
  for (const IntraNode fabric : {IntraNode::nvswitch, IntraNode::nvlink_pairs, IntraNode::pcie}) {
    TestNetwork test(27, 8, fabric, 4);
    test.add_servers(2);
    test.cluster.nodes_per_leaf = 2;
    test.cluster.oversubscription = 8;
    const Topology topology = test.topology();
    const CollectiveCosts costs = test.costs(topology);
    for (const Communicator& communicator : {star({0}), star({3}), star({0, 1, 2, 3}), star({4, 5}),
                                             star({0, 1}, Client::node), star({5}, Client::host)}) {
      const std::vector<FlowTemplate> flows = server_flows(ranks(0, 27), communicator, topology);
      const GroupShape group = server_shape(ranks(0, 27), communicator, topology, flows);
      for (const CollectiveKind kind : {CollectiveKind::push, CollectiveKind::pull, CollectiveKind::update}) {
        const CollectivePlan plan = costs.plan(kind, Bytes(64e6), group);
        std::map<std::uint32_t, double> load;
        for (const FlowTemplate& flow : flows) {
          if (flow.only_for != kind) continue;
          for (const LinkUse& use : flow.route) load[use.link] += flow.share * use.weight * 64e6;
        }
        double slowest = 0;
        for (const auto& [link, bytes] : load) {
          slowest = std::max(slowest, bytes / topology.links()[link].capacity.value);
        }
        CHECK(plan.alone.time.value == Approx(plan.alpha.time.value + slowest).epsilon(1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace foretrain::sim
