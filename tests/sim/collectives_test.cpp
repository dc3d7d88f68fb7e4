#include "sim/collectives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/sim/test_network.h"

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;
using calibrate::CollectiveTable;
using calibrate::IntraNode;

constexpr double us = 1e-6, gb = 1e9;
const std::vector<CollectiveKind> all_kinds = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                               CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                               CollectiveKind::broadcast,  CollectiveKind::send_receive};

double alone(const CollectiveCosts& costs, CollectiveKind kind, double bytes, const GroupShape& shape) {
  return costs.plan(kind, Bytes(bytes), shape).alone.time.value;
}

CollectiveTable table_of(int ranks, std::vector<double> bytes, std::vector<double> seconds) {
  CollectiveTable table;
  table.device = "test GPU";
  table.kind = CollectiveKind::all_reduce;
  table.ranks = ranks;
  table.bytes = std::move(bytes);
  table.seconds = std::move(seconds);
  table.source = "test";
  return table;
}

TEST_CASE("Ring all-reduce inside a node: base + 2(n-1)(step + S/(n·B))") {
  TestNetwork test(8, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  for (int n = 2; n <= 8; ++n) {
    const double bytes = 256e6;
    const double expected = 10 * us + 2 * (n - 1) * (2 * us + bytes / (n * 100 * gb));
    const CollectivePlan plan = costs.plan(CollectiveKind::all_reduce, Bytes(bytes), shape_of(ranks(0, n), topology));
    CHECK(plan.alone.time.value == Approx(expected).epsilon(1e-12));
    CHECK(plan.steps == 2 * (n - 1));
    CHECK(plan.node_bytes.value == 0);
  }
}

TEST_CASE("Other collectives inside a node: one pass, bytes as nccl-tests counts them") {
  TestNetwork test(8, 8, IntraNode::pcie, 1);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const GroupShape shape = shape_of(ranks(0, 4), topology);
  const double bytes = 80e6, whole = bytes / (20 * gb);  // 4 ms over a PCIe port
  // base + 3 steps of 5 µs + 3/4 of the buffer
  CHECK(alone(costs, CollectiveKind::reduce_scatter, bytes, shape) == Approx(25 * us + 0.75 * whole));
  CHECK(alone(costs, CollectiveKind::all_gather, bytes, shape) == Approx(25 * us + 0.75 * whole));
  CHECK(alone(costs, CollectiveKind::all_to_all, bytes, shape) == Approx(25 * us + 0.75 * whole));
  CHECK(alone(costs, CollectiveKind::broadcast, bytes, shape) == Approx(25 * us + whole));
  CHECK(alone(costs, CollectiveKind::send_receive, bytes, shape_of({0, 1}, topology)) == Approx(15 * us + whole));
}

TEST_CASE("Ring across nodes, one rank each: every step is a hop") {
  TestNetwork test(512, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const double bytes = 4e9;  // large enough that the ring's fewer bytes win over the tree's fewer hops
  for (const int n : {2, 3, 8, 64}) {
    const CollectivePlan plan =
        costs.plan(CollectiveKind::all_reduce, Bytes(bytes), shape_of(ranks(0, n, 8), topology));
    // Each group has one NIC of 40/8 = 5 GB/s.
    CHECK(plan.alone.time.value == Approx(10 * us + 2 * (n - 1) * (10 * us + bytes / (n * 5 * gb))).epsilon(1e-12));
    CHECK(plan.rank_bytes.value == 0);
  }
}

TEST_CASE("Ring over whole nodes: all NICs, 2 hops per node among 2(n-1) steps") {
  TestNetwork test(32, 8, IntraNode::nvswitch, 4);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const double bytes = 4e9;
  const CollectivePlan plan = costs.plan(CollectiveKind::all_reduce, Bytes(bytes), shape_of(ranks(0, 32), topology));
  // 62 steps, 2·4 = 8 of them hops: 10 + 54·2 + 8·10 = 198 µs; 2·31/32 · 4 GB through 40 GB/s = 193.75 ms.
  CHECK(plan.alpha.time.value == Approx(198 * us));
  CHECK(plan.alone.time.value == Approx(198 * us + 0.19375));
  CHECK(plan.how.find("ring") != std::string::npos);
  CHECK(test.parameters.at(plan.alpha.parameter).name == "network hop latency of test network");
  CHECK(test.parameters.at(plan.alone.parameter).name == "network achieved fraction of test network");
}

TEST_CASE("The tree's latency grows with the logarithm of the nodes") {
  TestNetwork test(512, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  int depth = 3;
  for (const int nodes : {8, 16, 32, 64}) {
    const CollectivePlan plan =
        costs.plan(CollectiveKind::all_reduce, Bytes(1024), shape_of(ranks(0, 8 * nodes), topology));
    // 12 + 2·7·2 + 2·depth·10 µs; the ring would pay 20 µs per node.
    CHECK(plan.alpha.time.value == Approx((12 + 28 + 20 * depth) * us));
    CHECK(plan.steps == 2 * (7 + depth));
    CHECK(plan.how.find("double binary tree") != std::string::npos);
    ++depth;
  }
}

TEST_CASE("A tree moves 2·S per node at its own share of the link") {
  TestNetwork test(512, 8, IntraNode::nvswitch, 8);
  test.constants.ring_efficiency = 0.9;
  test.constants.tree_efficiency = 0.6;
  const Topology topology = test.topology();
  const CollectivePlan plan =
      test.costs(topology).plan(CollectiveKind::all_reduce, Bytes(1e6), shape_of(ranks(0, 512), topology));
  CHECK(plan.how.find("double binary tree") != std::string::npos);
  CHECK(plan.node_bytes.value == Approx(2e6 * 0.9 / 0.6));
}

// Shares and bytes per link summed here, independently of shape_of: alone = α + max load / capacity.
TEST_CASE("Alone is what the flows take on their links, for every kind and shape") {
  for (const IntraNode fabric : {IntraNode::nvswitch, IntraNode::nvlink_pairs, IntraNode::pcie}) {
    TestNetwork test(27, 8, fabric, 4);
    test.cluster.nodes_per_leaf = 2;
    test.cluster.oversubscription = 8;
    const Topology topology = test.topology();
    const CollectiveCosts costs = test.costs(topology);
    for (const std::vector<int>& group : {ranks(0, 2), ranks(1, 2), ranks(0, 8), ranks(0, 27), ranks(0, 16),
                                          ranks(2, 4, 8), ranks(4, 9), std::vector<int>{0, 2, 1, 3, 9, 17}}) {
      for (const CollectiveKind kind : all_kinds) {
        const GroupShape shape = shape_of(group, topology);
        const CollectivePlan plan = costs.plan(kind, Bytes(64e6), shape);
        std::map<std::uint32_t, double> load;
        for (const FlowTemplate& flow : group_flows(group, topology)) {
          const double bytes = flow.share * (flow.between_nodes ? plan.node_bytes : plan.rank_bytes).value;
          for (const LinkUse& use : flow.route) load[use.link] += bytes;
        }
        double slowest = 0;
        for (const auto& [link, bytes] : load)
          slowest = std::max(slowest, bytes / topology.links()[link].capacity.value);
        CHECK(plan.alone.time.value == Approx(plan.alpha.time.value + slowest).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("All-to-all: what stays in the node and what leaves it") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectivePlan plan =
      test.costs(topology).plan(CollectiveKind::all_to_all, Bytes(160e6), shape_of(ranks(0, 16), topology));
  // A rank keeps 7/16 of its 160 MB in the node: 70 MB = 7/8 of rank_bytes.
  CHECK(plan.rank_bytes.value == Approx(80e6));
  // 8 ranks send 8/16 of theirs out: 640 MB, 16 ms through 40 GB/s. 8 rounds are hops, 7 stay inside.
  CHECK(plan.node_bytes.value == Approx(640e6));
  CHECK(plan.alone.time.value == Approx((10 + 8 * 10 + 7 * 2) * us + 16e-3));
}

TEST_CASE("Reduce-scatter and all-gather together move what an all-reduce moves") {
  TestNetwork test(32, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const GroupShape shape = shape_of(ranks(0, 32), topology);
  const auto node_bytes = [&](CollectiveKind kind) { return costs.plan(kind, Bytes(1e9), shape).node_bytes.value; };
  CHECK(node_bytes(CollectiveKind::reduce_scatter) + node_bytes(CollectiveKind::all_gather) ==
        Approx(node_bytes(CollectiveKind::all_reduce)));
}

TEST_CASE("A group of one rank costs nothing") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectivePlan plan = test.costs(topology).plan(CollectiveKind::all_reduce, Bytes(1e9), GroupShape{});
  CHECK(plan.alone.time.value == 0);
  CHECK(plan.alpha.time.value == 0);
  CHECK(plan.rank_bytes.value == 0);
}

TEST_CASE("A shape written by hand stands for consecutive ranks") {
  TestNetwork test(27, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  for (const CollectiveKind kind : all_kinds) {
    CHECK(alone(costs, kind, 1e8, {27, 4, 8}) == alone(costs, kind, 1e8, shape_of(ranks(0, 27), topology)));
    CHECK(alone(costs, kind, 1e8, {4, 4, 1}) == alone(costs, kind, 1e8, shape_of(ranks(0, 4, 8), topology)));
    CHECK(alone(costs, kind, 1e8, {5, 1, 5}) == alone(costs, kind, 1e8, shape_of(ranks(0, 5), topology)));
  }
}

TEST_CASE("A measured table is reproduced at its points and interpolated between them") {
  TestNetwork test(8, 8, IntraNode::nvswitch, 8);
  test.tables = {table_of(8, {1e3, 1e6, 1e9}, {30e-6, 40e-6, 9e-3})};
  test.tables.front().intra_node = calibrate::to_string(IntraNode::nvswitch);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const GroupShape shape = shape_of(ranks(0, 8), topology);
  const auto time = [&](double bytes) { return alone(costs, CollectiveKind::all_reduce, bytes, shape); };
  CHECK(time(1e3) == Approx(30e-6).epsilon(1e-12));
  CHECK(time(1e6) == Approx(40e-6).epsilon(1e-12));
  CHECK(time(1e9) == Approx(9e-3).epsilon(1e-12));
  CHECK(time(std::sqrt(1e6 * 1e9)) == Approx(std::sqrt(40e-6 * 9e-3)));  // half way in both logarithms
  CHECK(time(4e9) == Approx(36e-3));                                     // beyond: the last bus bandwidth
  // Below: the smallest message less its own transfer, a millionth of the largest's 9 ms = 9 ns.
  CHECK(time(0) == Approx(30e-6 - 9e-9));
  CHECK(time(500) == Approx(30e-6 - 4.5e-9));
  // The latency is paid first, the flows take the rest.
  const CollectivePlan plan = costs.plan(CollectiveKind::all_reduce, Bytes(1e9), shape);
  CHECK(plan.alpha.time.value == Approx(30e-6 - 9e-9));
  CHECK(plan.rank_bytes.value == Approx((9e-3 - plan.alpha.time.value) * 100 * gb));
  CHECK(plan.how.find("measured table of 8 ranks (test)") != std::string::npos);
}

TEST_CASE("Between the rank counts of two tables the time is interpolated in the logarithm of the count") {
  TestNetwork test(8, 8, IntraNode::nvlink_hybrid_cube_mesh, 1);
  // DGX-1's mesh: bus bandwidth 22.5 GB/s over 2 GPUs, 85 over 4; 1 GB takes 1/22.5 and 1.5/85 s.
  test.tables = {table_of(2, {1e9}, {1 / 22.5}), table_of(4, {1e9}, {1.5 / 85})};
  for (CollectiveTable& table : test.tables)
    table.intra_node = calibrate::to_string(IntraNode::nvlink_hybrid_cube_mesh);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const auto time = [&](int n) {
    return alone(costs, CollectiveKind::all_reduce, 1e9, shape_of(ranks(0, n), topology));
  };
  CHECK(time(2) == Approx(1 / 22.5));
  CHECK(time(4) == Approx(1.5 / 85));
  const double weight = std::log(1.5) / std::log(2.0);
  CHECK(time(3) == Approx(1 / 22.5 + weight * (1.5 / 85 - 1 / 22.5)));
  // No table beyond 4 ranks: α–β.
  CHECK(time(5) == Approx(10 * us + 8 * (2 * us + 1e9 / (5 * 100 * gb))));
}

TEST_CASE("A table of bridged pairs does not speak for a pair torn apart") {
  TestNetwork test(4, 4, IntraNode::nvlink_pairs, 1);
  test.tables = {table_of(2, {1e9}, {12e-3})};
  test.tables.front().intra_node = calibrate::to_string(IntraNode::nvlink_pairs);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  CHECK(alone(costs, CollectiveKind::all_reduce, 1e9, shape_of({2, 3}, topology)) == Approx(12e-3));
  // 0 and 2 meet over PCIe: 10 + 2·5 µs and 1 GB at 20 GB/s.
  CHECK(alone(costs, CollectiveKind::all_reduce, 1e9, shape_of({0, 2}, topology)) == Approx(20 * us + 50e-3));
}

TEST_CASE("Across nodes a mesh gives two of its GPUs no more than it was measured to") {
  TestNetwork test(16, 8, IntraNode::nvlink_hybrid_cube_mesh, 8);
  test.cluster.machine.inter_node_bandwidth = gbytes_per_s(500);
  test.tables = {table_of(2, {1e9}, {1 / 22.5})};
  test.tables.front().intra_node = calibrate::to_string(IntraNode::nvlink_hybrid_cube_mesh);
  const Topology topology = test.topology();
  const CollectivePlan plan =
      test.costs(topology).plan(CollectiveKind::all_reduce, Bytes(4e9), shape_of({0, 1, 8, 9}, topology));
  // 2·3/4 · 4 GB, half of it through each port, at 22.5 GB/s: 133.3 ms; the NICs (2 · 50 GB/s) need only 60 ms.
  CHECK(plan.alone.time.value - plan.alpha.time.value == Approx(6e9 / 2 / 22.5e9));
}

TEST_CASE("Small messages reach the share of the network that was measured for them") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 4);
  test.network.message_bytes_per_nic = {1e6, 1e8};
  test.network.message_share = {0.25, 1.0};
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const auto share = [&](double bytes) {
    const CollectivePlan plan = costs.plan(CollectiveKind::all_gather, Bytes(bytes), {16, 2, 8});
    return bytes * 15 / 16 / plan.node_bytes.value;
  };
  CHECK(share(4e8) == Approx(1));     // 100 MB per NIC
  CHECK(share(4e7) == Approx(0.5));   // 10 MB per NIC, half way in both logarithms
  CHECK(share(4e6) == Approx(0.25));  // 1 MB per NIC
  CHECK(share(4e3) == Approx(0.25));
}

TEST_CASE("A message curve steeper than its bytes does not make more bytes faster") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 1);
  test.network.message_bytes_per_nic = {1e6, 2e6, 1e7};
  test.network.message_share = {0.1, 0.4, 1.0};
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  const auto stretched = [&](double bytes) {
    return costs.plan(CollectiveKind::all_gather, Bytes(bytes), {16, 2, 8}).node_bytes.value / (15.0 / 16);
  };
  CHECK(stretched(1e6) == Approx(1e7));  // 1 MB / 0.1
  CHECK(stretched(2e6) == Approx(1e7));  // not 2 MB / 0.4 = 5 MB
  CHECK(stretched(2e7) == Approx(2e7));
}

TEST_CASE("Bus bandwidth never exceeds the link it goes over") {
  TestNetwork test(64, 8, IntraNode::nvswitch, 4);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  for (const CollectiveKind kind : all_kinds) {
    for (double bytes = 1e3; bytes < 1e11; bytes *= 10) {
      const double inside = bytes * calibrate::bus_factor(kind, 8) / alone(costs, kind, bytes, {8, 1, 8});
      CHECK(inside <= 100 * gb);
      const double across = bytes * calibrate::bus_factor(kind, 8) / alone(costs, kind, bytes, {8, 8, 1});
      CHECK(across <= 10 * gb * (1 + 1e-12));
    }
  }
}

TEST_CASE("More bytes never take less time, more ranks never less latency") {
  TestNetwork test(512, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const CollectiveCosts costs = test.costs(topology);
  for (const CollectiveKind kind : all_kinds) {
    for (const GroupShape& shape : {GroupShape{8, 1, 8}, GroupShape{512, 64, 8}, GroupShape{64, 64, 1}}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e11; bytes *= 3) {
        const double now = alone(costs, kind, bytes, shape);
        CHECK(now >= before);
        before = now;
      }
    }
    double before = 0;
    for (int per_node = 1; per_node <= 8; ++per_node) {
      const double now = costs.plan(kind, Bytes(8), {8 * per_node, 8, per_node}).alpha.time.value;
      if (kind != CollectiveKind::send_receive) CHECK(now >= before);
      before = now;
    }
  }
}

}  // namespace
}  // namespace foretrain::sim
