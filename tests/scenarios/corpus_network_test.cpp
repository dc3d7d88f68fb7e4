// Published words about networks, and the nodes they join.
#include <string>

#include "scenarios/corpus/network_text.h"
#include "scenarios/corpus/node.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;

namespace {

const CorpusTables& tables() {
  static const CorpusTables all{DataStore{}};
  return all;
}

struct Expected {
  const char* text;
  const char* kind;
  std::int64_t nics;
  double gbits_per_s;  // 0 = not said
};

const Expected readings[] = {
    {"1x InfiniBand EDR 100 Gb/s (ConnectX MT27700)", "infiniband", 1, 100},
    {"2x ConnectX-6 IB HDR 200Gb/Sec", "infiniband", 2, 200},
    {"Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, Management: 100Gb/s Ethernet NIC",
     "infiniband", 8, 400},
    // Sixteen storage ports do not count; the words are cut off in the middle.
    {"Storage: 16x IB NDR 400Gb/s, Compute: 4 x Mellanox Technologies MT28908 Family [ConnectX-6] HDR 200 Gb/Sec + "
     "Manag",
     "infiniband", 4, 200},
    {"1x Ethernet 40Gb/Sec, 8x ConnectX-6 IB HDR 200Gb/Sec", "infiniband", 8, 200},
    {"Management: 1x Ethernet 40Gb/Sec, Compute: 8x ConnectX-6 IB HDR 200Gb/Sec", "infiniband", 8, 200},
    {"TCP over node NIC (NCCL_IB_DISABLE=1); hardware is IB EDR 100 Gb/s", "tcp", 1, 100},
    {"Infiniband, Ethernet", "infiniband", 1, 0},
    {"Ethernet, Infiniband", "infiniband", 1, 0},
    {"Ethernet (no IB)", "ethernet", 1, 0},
    {"Ethernet on switching network", "ethernet", 1, 0},
    // Gigabytes of PCIe are no rate of a network.
    {"ROCE2; Data bandwidth for GPU-PCIe: 504 GB/s; PCIe-NIC: 500 GB/s", "roce", 1, 0},
    {"4x EFA 100 Gbps", "efa", 4, 100},
    {"10 GbE", "ethernet", 1, 10},
    {"25 Gigabit Ethernet", "ethernet", 1, 25},
    {"2 × HDR InfiniBand", "infiniband", 2, 200},
    {"4x 100GbE RoCE v2", "roce", 4, 100},
    {"25 GbE RoCE", "roce", 1, 25},
    {"25Gbit/s RDMA", "roce", 1, 25},
    {"40GbE TCP", "ethernet", 1, 40},
    {"100 Gb/s Ethernet", "ethernet", 1, 100},
    {"56 Gb/s FDR InfiniBand", "infiniband", 1, 56},
    {"InfiniBand with RDMA, 56Gbps", "infiniband", 1, 56},
    {"dual-rail EDR InfiniBand", "infiniband", 2, 100},
    {"Omni-Path", "infiniband", 1, 100},
    {"Slingshot 11", "roce", 1, 200},
    {"Slingshot-10", "roce", 1, 100},
    {"AWS p2.16xlarge network", "", 1, 0},
    {"", "", 1, 0},
};

}  // namespace

TEST_CASE("words about networks are read as kind, cards and rate") {
  for (const Expected& expected : readings) {
    INFO(expected.text);
    const NetworkWords words = read_network(expected.text, tables());
    CHECK(words.kind == expected.kind);
    CHECK(words.nics == expected.nics);
    CHECK(words.gbits_per_s.value_or(0) == expected.gbits_per_s);
  }
}

TEST_CASE("a node's cards are those of the text, or the machine's own where it is silent") {
  const sim::ClusterChoice stated = family_of({}).anchor.scenario.cluster;
  CHECK(stated.machine == "DGX A100");
  CHECK(stated.nics_per_node == 8);
  CHECK(stated.inter_node_gbits_per_s == 1600.0);
  const sim::Family silent = family_of({{"inter_node", ""}});
  CHECK_FALSE(silent.anchor.scenario.cluster.inter_node_gbits_per_s);
  CHECK(silent.kind == "network not stated");
  CHECK(family_of({}).kind == "InfiniBand or RoCE");
  CHECK(family_of({{"gpus", "1 2 8"}}).kind == "single node");
  CHECK(family_of({{"inter_node", "10 GbE"}}).kind == "Ethernet");
}

TEST_CASE("sockets over an InfiniBand card are TCP at the card's rate") {
  const sim::Family& family = truth_family("F1522");
  CHECK(family.kind == "Ethernet");
  CHECK(family.anchor.scenario.cluster.machine == "DLPerf V100");
  CHECK(family.anchor.scenario.cluster.network == "tcp");
  CHECK(family.anchor.scenario.cluster.inter_node_gbits_per_s == 100.0);
}

TEST_CASE("Ethernet on a machine with an Ethernet network of its own is that network") {
  // Google's machines with H200 have RoCE; the row says \"Ethernet on switching network\".
  const sim::Family& google = truth_family("F0993");
  CHECK(google.anchor.scenario.cluster.machine == "a3-ultragpu-8g");
  CHECK_FALSE(google.anchor.scenario.cluster.network);
  CHECK(google.kind == "InfiniBand or RoCE");
}

TEST_CASE("nodes of four GPUs are found by their network cards") {
  // Dell XE8545: eight GPUs are two nodes with two HDR cards each.
  const sim::Family& dell = truth_family("F0467");
  CHECK(dell.anchor.scenario.cluster.machine == "Dell PowerEdge XE8545 A100 80GB");
  CHECK(dell.anchor.scenario.cluster.inter_node_gbits_per_s == 400.0);
  CHECK(dell.kind == "InfiniBand or RoCE");
  CHECK(truth_family("F0777").anchor.scenario.cluster.machine == "Dell PowerEdge XE8640 H100");
  CHECK(truth_family("F0778").anchor.scenario.cluster.machine == "Dell PowerEdge XE9680 H100");
}

TEST_CASE("a machine of the catalogue that a row names is that machine") {
  const auto machine = [](const Columns& changes) { return family_of(changes).anchor.scenario.cluster.machine; };
  CHECK(machine({{"intra_node", ""}, {"inter_node", "AWS p4d.24xlarge, EFA"}}) == "p4d.24xlarge");
  CHECK(machine({{"intra_node", "Azure ND96asr_v4"}}) == "Standard_ND96asr_v4");
  CHECK(machine({{"gpu", "V100-32GB"}, {"intra_node", "DGX-2H"}}) == "DGX-2H");
  CHECK(machine({{"gpu", "V100-32GB"}, {"intra_node", "DGX-2"}}) == "DGX-2");
  // The name of a machine with other GPUs says nothing.
  CHECK(machine({{"gpu", "H100-SXM5-80GB"}, {"intra_node", ""}, {"where", "as on p4d.24xlarge"}}) == "DGX H100");
  CHECK(truth_family("F1699").anchor.scenario.cluster.machine == "p2.8xlarge");
  CHECK(truth_family("F1692").anchor.scenario.cluster.machine == "n1-standard-32-k80x8");
  CHECK(truth_family("F1036").anchor.scenario.cluster.machine == "p2.16xlarge");
}

TEST_CASE("a row's own words about its nodes' GPUs come before the machine's") {
  const auto nodes = [](const char* words) { return family_of({{"intra_node", words}}).anchor.scenario.cluster; };
  CHECK(nodes("NVLink, 4 GPUs per node").gpus_per_node == 4);
  CHECK(nodes("4x A100 per node").gpus_per_node == 4);
  CHECK(nodes("4/node").gpus_per_node == 4);
  CHECK_FALSE(nodes("8 GPUs/node").gpus_per_node);  // as a DGX A100 has
  CHECK_FALSE(nodes("A100/node").gpus_per_node);
  CHECK(family_of({{"intra_node", "4 GPUs per node"}, {"gpus", "1 2 8"}}).kind == "InfiniBand or RoCE");
}

TEST_CASE("the number of GPUs of a node is said in many ways") {
  // V100 by default stand in DGX-1 of eight.
  const auto nodes = [](const char* gpu, const char* intra_node, const char* inter_node) {
    return family_of({{"gpu", gpu}, {"intra_node", intra_node}, {"inter_node", inter_node}})
        .anchor.scenario.cluster.gpus_per_node;
  };
  const char* edr = "EDR InfiniBand";
  CHECK(nodes("V100", "4x V100 per server", edr) == 4);
  CHECK(nodes("V100", "4 Tesla V100 GPUs per machine", edr) == 4);
  CHECK(nodes("4 V100 GPUs/node", "", edr) == 4);
  CHECK(nodes("V100", "4-GPU nodes", edr) == 4);
  CHECK(nodes("V100", "nodes with 4 GPUs, NVLink", edr) == 4);
  CHECK(nodes("V100", "servers of 4 V100 GPUs", edr) == 4);
  CHECK(nodes("V100", "", "EDR InfiniBand, 4 GPUs per node") == 4);
  CHECK(nodes("Summit V100, 6 per node", "", edr) == 6);
  // Cards, rates and memory have numbers per node, too.
  CHECK_FALSE(nodes("V100", "", "2x EDR InfiniBand per node"));
  CHECK_FALSE(nodes("V100", "", "100 Gb per node, InfiniBand"));
  CHECK_FALSE(nodes("V100", "512 GB per node", edr));
}

TEST_CASE("a card that the named machine has several of stands for all of them, unless a count is said") {
  const auto rate = [](const char* node, const char* network) {
    return family_of({{"intra_node", node}, {"inter_node", network}}).anchor.scenario.cluster.inter_node_gbits_per_s;
  };
  CHECK(rate("DGX A100", "HDR InfiniBand") == 8 * 200.);
  CHECK(rate("DGX A100", "1x HDR InfiniBand") == 200.);
  CHECK(rate("DGX A100", "EDR InfiniBand") == 100.);  // of which it has none
  CHECK(rate("", "HDR InfiniBand") == 200.);          // a node that nobody names
}

TEST_CASE("networks without calibration are declined where the curve leaves its node") {
  const Columns aries = {{"gpu", "P100"}, {"intra_node", "Piz Daint, 1 per node"}, {"inter_node", "Aries"}};
  CHECK(reason_of(aries) == "unsupported: network without calibration");
  CHECK(reason_of({{"gpu", "P100"}, {"inter_node", "Aries"}, {"gpus", "1 2 8"}}).empty());
}

TEST_CASE("servers of PCIe boards hold up to ten where no network is stated, and need one beyond") {
  const Columns server = {{"gpu", "A30"}, {"intra_node", "PCIe"}, {"inter_node", ""}};
  const auto on = [&](const char* gpus) {
    Columns row = server;
    row["gpus"] = gpus;
    return row;
  };
  CHECK(family_of(on("2 8 10")).anchor.scenario.cluster.gpus_per_node == 10);
  CHECK(family_of(on("2 8 10")).kind == "single node");
  CHECK(family_of(on("2 4 8")).anchor.scenario.cluster.gpus_per_node == 8);
  CHECK(reason_of(on("2 8 16")) == "unsupported: network that nobody states");
}
