#include "sim/group_flows.h"

#include <map>

#include "tests/catch.h"
#include "tests/sim/test_network.h"

namespace foretrain::sim {
namespace {

using calibrate::IntraNode;

double rank_gbytes(const GroupShape& shape) { return shape.rank_rate.value / 1e9; }
double node_gbytes(const GroupShape& shape) { return shape.node_rate.value / 1e9; }

TEST_CASE("Inside a node each rank sends all of its bytes to its neighbour") {
  TestNetwork test(8, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const std::vector<FlowTemplate> flows = group_flows(ranks(0, 4), topology);
  REQUIRE(flows.size() == 4);
  for (const FlowTemplate& flow : flows) {
    CHECK(flow.share == 1.0);
    CHECK_FALSE(flow.between_nodes);
  }
  CHECK(flows[3].route == topology.intra_node_route(3, 0));  // the ring closes
  const GroupShape shape = shape_of(ranks(0, 4), topology);
  CHECK(shape.ranks == 4);
  CHECK(shape.nodes == 1);
  CHECK(shape.ranks_per_node == 4);
  CHECK(shape.nics == 0);
  CHECK(rank_gbytes(shape) == Approx(100));
  CHECK(node_gbytes(shape) == 0);
}

TEST_CASE("One rank loads nothing") {
  TestNetwork test(8, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  CHECK(group_flows({3}, topology).empty());
  CHECK(shape_of({3}, topology).ranks == 1);
}

TEST_CASE("Whole nodes ring through all of their NICs, however many there are") {
  for (const int nics : {1, 2, 4, 8, 16}) {
    TestNetwork test(16, 8, IntraNode::nvswitch, nics);
    const Topology topology = test.topology();
    const std::vector<FlowTemplate> flows = group_flows(ranks(0, 16), topology);
    // 16 hops inside, and from each of the two nodes one flow per NIC to the other.
    REQUIRE(flows.size() == static_cast<std::size_t>(16 + 2 * nics));
    double inside = 0, between = 0;
    for (const FlowTemplate& flow : flows) (flow.between_nodes ? between : inside) += flow.share;
    CHECK(inside == Approx(16 * 7.0 / 8));  // each rank passes 7/8 on inside, 1/8 leaves by a NIC
    CHECK(between == Approx(2));
    const GroupShape shape = shape_of(ranks(0, 16), topology);
    CHECK(shape.nics == nics);
    CHECK(node_gbytes(shape) == Approx(40));
    CHECK(rank_gbytes(shape) == Approx(100 / (7.0 / 8)));
  }
}

TEST_CASE("One rank per node uses its own NIC, shared or not") {
  for (const int nics : {1, 2, 4, 8}) {
    TestNetwork test(32, 8, IntraNode::nvswitch, nics);
    const Topology topology = test.topology();
    std::map<std::uint32_t, double> load;
    for (int gpu = 0; gpu < 8; ++gpu) {  // tensor parallel 8: eight data-parallel groups over 4 nodes
      const std::vector<int> group = ranks(gpu, 4, 8);
      CHECK(group_flows(group, topology).size() == 4);
      CHECK(node_gbytes(shape_of(group, topology)) == Approx(40.0 / nics));  // alone on its NIC
      CHECK(rank_gbytes(shape_of(group, topology)) == 0);
      for (const FlowTemplate& flow : group_flows(group, topology)) load[flow.route.front().link] += flow.share;
    }
    CHECK(load.size() == static_cast<std::size_t>(4 * nics));
    for (const auto& [link, share] : load) CHECK(share == Approx(8.0 / nics));
  }
}

TEST_CASE("A group with some of a node's ranks uses their NICs") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 4);
  const Topology topology = test.topology();
  const GroupShape half = shape_of({0, 1, 2, 3, 8, 9, 10, 11}, topology);
  CHECK(half.nics == 2);                   // GPUs 0-3 sit at NICs 0 and 1
  CHECK(node_gbytes(half) == Approx(20));  // 2 · 10 GB/s
}

TEST_CASE("The node with the fewest NICs limits the ring") {
  TestNetwork test(11, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  const GroupShape shape = shape_of(ranks(0, 11), topology);  // 8 ranks and 3
  CHECK(shape.nodes == 2);
  CHECK(shape.ranks_per_node == 8);
  CHECK(shape.nics == 3);
  CHECK(node_gbytes(shape) == Approx(15));  // 3 NICs of 40/8 GB/s
}

TEST_CASE("Rings in rank order cross each leaf once, shuffled ones often") {
  TestNetwork test(64, 8, IntraNode::nvswitch, 8);
  test.cluster.nodes_per_leaf = 4;
  test.cluster.oversubscription = 4;  // uplink 4 · 40 / 4 = 40 GB/s
  const Topology topology = test.topology();
  const auto crossings = [&](const std::vector<int>& group) {
    double count = 0;
    for (const FlowTemplate& flow : group_flows(group, topology)) {
      if (flow.route.size() == 4 && flow.between_nodes) count += flow.share;
    }
    return count;
  };
  CHECK(crossings(ranks(0, 64)) == Approx(2));  // node 3 -> 4 and node 7 -> 0
  CHECK(node_gbytes(shape_of(ranks(0, 64), topology)) == Approx(40));
  std::vector<int> shuffled;
  for (const int node : {0, 4, 1, 5, 2, 6, 3, 7}) {
    for (const int rank : ranks(8 * node, 8)) shuffled.push_back(rank);
  }
  CHECK(crossings(shuffled) == Approx(8));
  CHECK(node_gbytes(shape_of(shuffled, topology)) == Approx(10));  // 40 GB/s for 4 crossings of each uplink
}

TEST_CASE("Ranks of one node stay together in the ring whatever the order of the group") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 8);
  const Topology topology = test.topology();
  std::vector<int> alternating;
  for (int i = 0; i < 8; ++i) alternating.insert(alternating.end(), {i, 8 + i});
  CHECK(shape_of(alternating, topology) == shape_of(ranks(0, 16), topology));
}

TEST_CASE("A pair sends one way") {
  TestNetwork test(16, 8, IntraNode::nvswitch, 4);
  const Topology topology = test.topology();
  SECTION("inside a node over its ports") {
    const std::vector<FlowTemplate> flows = pair_flows(3, 1, topology);
    REQUIRE(flows.size() == 1);
    CHECK(flows[0].route == topology.intra_node_route(3, 1));
    CHECK_FALSE(flows[0].between_nodes);
    const GroupShape shape = pair_shape(3, 1, topology);
    CHECK(shape.ranks == 2);
    CHECK(shape.nodes == 1);
    CHECK(shape.ranks_per_node == 2);
    CHECK(rank_gbytes(shape) == Approx(100));
    CHECK(node_gbytes(shape) == 0);
  }
  SECTION("between nodes out of the sender's NIC and into the receiver's") {
    const std::vector<FlowTemplate> flows = pair_flows(2, 15, topology);  // NIC 1 of node 0, NIC 3 of node 1
    REQUIRE(flows.size() == 1);
    CHECK(flows[0].route == topology.inter_node_route(0, 1, 1, 3));
    CHECK(flows[0].share == 1);
    const GroupShape shape = pair_shape(2, 15, topology);
    CHECK(shape.ranks == 2);
    CHECK(shape.nodes == 2);
    CHECK(shape.ranks_per_node == 1);
    CHECK(shape.nics == 1);
    CHECK(node_gbytes(shape) == Approx(10));
    CHECK(rank_gbytes(shape) == 0);
  }
  SECTION("over all NICs that a rank has") {
    TestNetwork many(4, 2, IntraNode::nvswitch, 4);
    const Topology wide = many.topology();
    CHECK(pair_flows(0, 3, wide).size() == 2);
    CHECK(node_gbytes(pair_shape(0, 3, wide)) == Approx(20));
  }
}

TEST_CASE("Pairs: a ring over two pairs is as slow as PCIe, a pair as fast as its bridge") {
  TestNetwork test(4, 4, IntraNode::nvlink_pairs, 1);
  const Topology topology = test.topology();
  CHECK(rank_gbytes(shape_of({0, 1}, topology)) == Approx(100));
  CHECK_FALSE(shape_of({0, 1}, topology).over_pcie);
  CHECK(rank_gbytes(shape_of({0, 2}, topology)) == Approx(20));
  CHECK(rank_gbytes(shape_of(ranks(0, 4), topology)) == Approx(20));
  CHECK(shape_of(ranks(0, 4), topology).over_pcie);
  CHECK(test.parameters.at(shape_of(ranks(0, 4), topology).rank_parameter).name == "PCIe bandwidth of test GPU");
}

TEST_CASE("PCIe: a ring that zigzags between switches halves its uplinks") {
  TestNetwork test(4, 4, IntraNode::pcie, 1);
  const Topology topology = test.topology();
  CHECK(rank_gbytes(shape_of({0, 1, 2, 3}, topology)) == Approx(20));  // each uplink is crossed once
  CHECK(rank_gbytes(shape_of({0, 2, 1, 3}, topology)) == Approx(10));  // twice
}

}  // namespace
}  // namespace foretrain::sim
