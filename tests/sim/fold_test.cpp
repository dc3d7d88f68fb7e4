// What folding keeps: the coarsest equitable cells, and links with the weight of all that cross them.
// That replays agree is tested in engine/fold_replay_test.cpp.
#include "sim/fold.h"

#include <map>
#include <numeric>

#include "sim/colour_refinement.h"
#include "tests/catch.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using calibrate::IntraNode;

namespace {

Program program(const std::vector<std::string>& communicators) {
  Program result;
  result.rank_class = "worker";
  for (const std::string& name : communicators) result.add_communicator(name);
  return result;
}

Placement data_parallel(int gpus) {
  Placement placement;
  placement.class_of_rank.assign(static_cast<std::size_t>(gpus), 0);
  placement.communicators = {{"data", {ranks(0, gpus)}}};
  return placement;
}

int represented(const Job& job) {
  return std::accumulate(job.instances.begin(), job.instances.end(), 0,
                         [](int sum, const RankInstance& instance) { return sum + instance.represents; });
}

// The weight with which the flows of `group` cross links of this kind.
std::uint32_t weight_on(const Job& job, const Group& group, const std::string& kind) {
  std::uint32_t weight = 0;
  for (const FlowTemplate& flow : group.flows) {
    for (const LinkUse& use : flow.route) {
      if (job.link_kinds[job.links[use.link].kind] == kind) weight += use.weight;
    }
  }
  return weight;
}

}  // namespace

TEST_CASE("a cycle is one cell, a path folds onto itself") {
  ColouredGraph cycle, path;
  for (int i = 0; i < 6; ++i) {
    cycle.add_vertex(7);
    path.add_vertex(7);
  }
  for (std::uint32_t i = 0; i < 6; ++i) cycle.add_edge(i, (i + 1) % 6);
  for (std::uint32_t i = 0; i < 5; ++i) path.add_edge(i, i + 1);
  CHECK(cycle.equitable_partition() == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0});
  CHECK(path.equitable_partition() == std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0});
}

TEST_CASE("colours, labels and multiplicities split cells") {
  ColouredGraph graph;
  const std::uint32_t a = graph.add_vertex(1), b = graph.add_vertex(1), c = graph.add_vertex(1);
  const std::uint32_t x = graph.add_vertex(2), y = graph.add_vertex(2), z = graph.add_vertex(2);
  SECTION("label") {
    graph.add_edge(a, x, 1);
    graph.add_edge(b, y, 2);
    graph.add_edge(c, z, 1);
    CHECK(graph.equitable_partition() == std::vector<std::uint32_t>{0, 1, 0, 2, 3, 2});
  }
  SECTION("multiplicity") {
    graph.add_edge(a, x);
    graph.add_edge(a, x);
    graph.add_edge(b, y);
    graph.add_edge(c, z);
    CHECK(graph.equitable_partition() == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3});
  }
}

TEST_CASE("a random graph's partition is equitable") {
  // A multiplicative congruential generator (Park, Miller 1988) makes the graph; the check counts neighbours by cell.
  std::uint64_t state = 20;
  const auto random = [&](std::uint32_t below) {
    state = state * 48271 % 2147483647;
    return static_cast<std::uint32_t>(state % below);
  };
  for (int round = 0; round < 50; ++round) {
    ColouredGraph graph;
    const std::uint32_t vertices = 2 + random(60);
    std::vector<std::uint64_t> colours;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      colours.push_back(random(2));
      graph.add_vertex(colours.back());
    }
    std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, int>> counts(vertices);
    std::vector<std::array<std::uint32_t, 3>> edges;
    for (std::uint32_t e = 0; e < vertices; ++e) {
      edges.push_back({random(vertices), random(vertices), 1 + random(2)});
      graph.add_edge(edges.back()[0], edges.back()[1], edges.back()[2]);
    }
    const std::vector<std::uint32_t> cell = graph.equitable_partition();
    for (const auto& [a, b, label] : edges) {
      ++counts[a][{cell[b], label}];
      ++counts[b][{cell[a], label}];
    }
    for (std::uint32_t a = 0; a < vertices; ++a) {
      for (std::uint32_t b = 0; b < vertices; ++b) {
        if (cell[a] != cell[b]) continue;
        REQUIRE(colours[a] == colours[b]);
        REQUIRE(counts[a] == counts[b]);
      }
    }
  }
}

TEST_CASE("uniform data parallelism is one rank") {
  TestNetwork network(64, 8, IntraNode::nvswitch, 8);
  const Topology topology = network.topology();
  const Job job = fold({program({"data"})}, data_parallel(64), topology);
  CHECK(job.folded);
  CHECK(job.ranks == 64);
  REQUIRE(job.instances.size() == 1);
  CHECK(job.instances[0].represents == 64);
  REQUIRE(job.groups.size() == 1);
  CHECK(job.groups[0].members == std::vector<std::uint32_t>{0});
  CHECK(job.groups[0].shape.ranks == 64);
  // One flow over NVLink and one between NICs; four kinds of links, each crossed once.
  CHECK(job.groups[0].flows.size() == 2);
  CHECK(job.links.size() == 4);
  CHECK(weight_on(job, job.groups[0], "NIC out") == 1);
}

TEST_CASE("ring hops over leaf switches fold by position") {
  // 16 nodes of 8 GPUs and 8 NICs, four nodes per leaf: each leaf's uplink is crossed by the 8 flows of one hop.
  TestNetwork network(128, 8, IntraNode::nvswitch, 8);
  network.cluster.nodes_per_leaf = 4;
  network.cluster.oversubscription = 2;
  const Topology topology = network.topology();
  const Job job = fold({program({"data"})}, data_parallel(128), topology);
  CHECK(job.instances.size() == 1);
  CHECK(job.groups[0].flows.size() == 3);  // NVLink, NIC to NIC under a leaf, NIC to NIC across
  CHECK(weight_on(job, job.groups[0], "leaf uplink") == 8);
  CHECK(weight_on(job, job.groups[0], "leaf downlink") == 8);
  CHECK(weight_on(job, job.groups[0], "NIC out") == 2);  // one each of two kinds of NICs
}

TEST_CASE("tensor groups share NICs of data groups") {
  // 4 nodes of 8 GPUs with 2 NICs; tensor groups of 2 inside nodes, so two data groups... of 16 ranks each, both over
  // both NICs of every node: a NIC is crossed by one flow of each.
  TestNetwork network(32, 8, IntraNode::nvswitch, 2);
  const Topology topology = network.topology();
  Placement placement = data_parallel(32);
  placement.communicators = {{"tensor", {}}, {"data", {ranks(0, 16, 2), ranks(1, 16, 2)}}};
  for (int first = 0; first < 32; first += 2) placement.communicators[0].groups.push_back(ranks(first, 2));
  const Job job = fold({program({"tensor", "data"})}, placement, topology);
  REQUIRE(job.instances.size() == 1);
  REQUIRE(job.groups.size() == 2);
  CHECK(job.instances[0].group_of_communicator == std::vector<std::uint32_t>{0, 1});
  CHECK(job.groups[0].communicator == "tensor");
  CHECK(weight_on(job, job.groups[1], "NIC out") == 2);
}

TEST_CASE("a straggler is a cell of its own") {
  TestNetwork network(32, 8, IntraNode::nvswitch, 4);
  const Topology topology = network.topology();
  Placement placement = data_parallel(32);
  placement.stretch_of_rank.assign(32, 1.0);
  placement.stretch_of_rank[13] = 1.2;
  const Job job = fold({program({"data"})}, placement, topology);
  REQUIRE(job.instances.size() == 2);
  CHECK(represented(job) == 32);
  CHECK(job.instances[1].rank == 13);
  CHECK(job.instances[1].represents == 1);
  CHECK(job.groups[0].members == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("communicators that no program names do not keep ranks apart") {
  TestNetwork network(16, 8, IntraNode::nvswitch, 8);
  const Topology topology = network.topology();
  Placement placement = data_parallel(16);
  placement.communicators.push_back({"unused", {ranks(0, 3)}});
  CHECK(fold({program({"data"})}, placement, topology).instances.size() == 1);
  const Job used = fold({program({"data", "unused"})}, placement, topology);
  CHECK(used.instances.size() == 2);
  CHECK(used.instances[1].group_of_communicator == std::vector<std::uint32_t>{0, no_group});
}

TEST_CASE("expand makes every rank an instance") {
  TestNetwork network(12, 8, IntraNode::nvswitch, 8);
  const Topology topology = network.topology();
  const Job job = expand({program({"data"})}, data_parallel(12), topology);
  CHECK_FALSE(job.folded);
  REQUIRE(job.instances.size() == 12);
  CHECK(job.instances[11].rank == 11);
  CHECK(job.instances[11].represents == 1);
  CHECK(job.groups[0].members.size() == 12);
  CHECK(job.groups[0].flows.size() == group_flows(ranks(0, 12), topology).size());
}
