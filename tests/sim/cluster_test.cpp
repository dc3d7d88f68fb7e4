#include "sim/cluster.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"
#include "sim/collectives.h"
#include "tests/catch.h"

namespace foretrain::sim {
namespace {

using calibrate::IntraNode;

const calibrate::Catalogue& catalogue() {
  static const calibrate::Catalogue shipped{DataStore()};
  return shipped;
}

ClusterChoice choice(const std::string& machine, std::int64_t gpus) {
  ClusterChoice result;
  result.machine = machine;
  result.gpus = gpus;
  result.where = "scenario.json: /cluster";
  return result;
}

ClusterChoice own(std::int64_t gpus, std::int64_t gpus_per_node, const std::string& gpu) {
  ClusterChoice result = choice("", gpus);
  result.gpu = gpu;
  result.gpus_per_node = gpus_per_node;
  return result;
}

Cluster resolve(const ClusterChoice& asked) { return resolve_cluster(asked, catalogue()); }

Error error_of(const ClusterChoice& asked) {
  try {
    (void)resolve(asked);
  } catch (const Error& error) {
    return error;
  }
  return Error("nothing was thrown");
}

bool warns_of(const Cluster& cluster, const std::string& words) {
  return std::any_of(cluster.warnings.begin(), cluster.warnings.end(),
                     [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
}

TEST_CASE("A machine of the catalogue, as many as the GPUs need") {
  const Cluster cluster = resolve(choice("Standard_ND96amsr_A100_v4", 20));
  CHECK(cluster.nodes == 3);  // 8 + 8 + 4: the last one is partly used
  CHECK(cluster.device->name == "A100-SXM4-80GB");
  REQUIRE(cluster.network != nullptr);
  CHECK(cluster.network->name == "infiniband");
  CHECK(cluster.network_achieved_fraction == cluster.network->achieved_fraction);
  CHECK_FALSE(cluster.achieved_fraction_given);
  CHECK(cluster.nodes_per_leaf == 0);
  CHECK(cluster.warnings.empty());
}

TEST_CASE("Fewer GPUs than a node has need no network") {
  const Cluster cluster = resolve(choice("Standard_ND96amsr_A100_v4", 2));
  CHECK(cluster.nodes == 1);
  CHECK(cluster.network == nullptr);
  CHECK(cluster.machine.gpus == 8);
}

TEST_CASE("Every field of the choice is applied") {
  ClusterChoice asked = choice("Standard_ND96amsr_A100_v4", 8);
  asked.gpus_per_node = 4;
  asked.nics_per_node = 2;
  asked.inter_node_gbits_per_s = 100;
  asked.network = "roce";
  asked.network_achieved_fraction = 0.5;
  asked.intra_node_gbytes_per_s = 200;
  asked.vcpus = 48;
  asked.price_usd_per_hour = 10;
  asked.nodes_per_leaf = 1;
  asked.oversubscription = 2;
  const Cluster cluster = resolve(asked);
  CHECK(cluster.machine.gpus == 4);
  CHECK(cluster.nodes == 2);
  CHECK(cluster.machine.nics == 2);
  CHECK(cluster.machine.inter_node_bandwidth->value == Approx(12.5e9));  // 100 Gb/s
  CHECK(cluster.network->name == "roce");
  CHECK(cluster.network_achieved_fraction == 0.5);
  CHECK(cluster.achieved_fraction_given);
  CHECK(cluster.machine.intra_node_bandwidth->value == Approx(200e9));
  CHECK(cluster.intra_node_provenance == Provenance::given);
  CHECK(cluster.machine.vcpus == 48);
  CHECK(cluster.machine.price_usd_per_hour == 10.0);
  CHECK(cluster.nodes_per_leaf == 1);
  CHECK(cluster.oversubscription == 2);
}

TEST_CASE("The price of a machine does not hold for one with other GPUs") {
  ClusterChoice asked = choice("Standard_ND96amsr_A100_v4", 8);
  asked.gpu = "H100-SXM5-80GB";
  const Cluster cluster = resolve(asked);
  CHECK(cluster.device->name == "H100-SXM5-80GB");
  CHECK_FALSE(cluster.machine.price_usd_per_hour);
  CHECK(warns_of(cluster, "price"));
  asked.gpu = "a100-sxm4-80gb";  // the same GPU, written otherwise
  CHECK(resolve(asked).machine.price_usd_per_hour);
}

TEST_CASE("Links inside a node are as sure as the collectives measured on them") {
  const calibrate::CollectiveConstants& constants = catalogue().collective_constants();
  const Cluster measured = resolve(choice("Standard_ND96amsr_A100_v4", 8));
  CHECK(measured.intra_node_achieved_fraction == constants.ring_efficiency);
  CHECK(measured.intra_node_spread < constants.relative_spread);
  const Cluster unmeasured = resolve(choice("DGX-2", 16));  // no table of V100 on NVSwitch
  CHECK(unmeasured.intra_node_spread == constants.relative_spread);
}

TEST_CASE("NVLink pairs are joined by the PCIe of their generation") {
  const Cluster cluster = resolve(choice("Standard_NC96ads_A100_v4", 4));
  const calibrate::CollectiveConstants& constants = catalogue().collective_constants();
  REQUIRE(cluster.pcie_bandwidth);
  CHECK(cluster.pcie_bandwidth->value ==
        Approx(constants.pcie_bandwidth.at("ampere").value * constants.ring_efficiency));
}

TEST_CASE("A machine described field by field") {
  CHECK(error_of(own(4, 4, "T4")).hint().find("cluster.intra_node") != std::string::npos);
  ClusterChoice asked = own(4, 4, "T4");
  asked.intra_node = "pcie";
  const Cluster cluster = resolve(asked);
  // PCIe's rate comes from the GPU's generation, and is said to.
  CHECK(*cluster.machine.intra_node_bandwidth == catalogue().collective_constants().pcie_bandwidth.at("turing"));
  CHECK(cluster.intra_node_provenance == Provenance::assumed);
  CHECK(warns_of(cluster, "PCIe"));
  asked.intra_node_gbytes_per_s = 10;
  CHECK(resolve(asked).warnings.empty());
  asked.intra_node = "nvswitch";
  asked.intra_node_gbytes_per_s.reset();
  CHECK(error_of(asked).hint().find("cluster.intra_node_gbytes_per_s") != std::string::npos);
  asked.intra_node = "nvlink";
  CHECK(error_of(asked).where() == "scenario.json: /cluster/intra_node");
  CHECK(resolve(own(1, 4, "T4")).nodes == 1);  // one GPU meets no other
}

TEST_CASE("Without a machine, gpu and gpus_per_node are required") {
  ClusterChoice asked = own(4, 4, "T4");
  asked.gpu.reset();
  CHECK(error_of(asked).where() == "scenario.json: /cluster");
  CHECK(error_of(asked).hint().find("cluster.gpu and cluster.gpus_per_node") != std::string::npos);
  asked = own(4, 4, "T4");
  asked.gpus_per_node.reset();
  CHECK(error_of(asked).where() == "scenario.json: /cluster");
}

TEST_CASE("What several nodes need is asked for, not guessed") {
  // Nobody publishes the network rate of the NCv3 machines.
  const Error rate = error_of(choice("Standard_NC24s_v3", 8));
  CHECK(rate.where() == "scenario.json: /cluster");
  CHECK(rate.hint().find("cluster.inter_node_gbits_per_s") != std::string::npos);
  CHECK(rate.code() == ExitCode::usage);
  ClusterChoice asked = choice("Standard_NC24s_v3", 8);
  asked.inter_node_gbits_per_s = 40;
  CHECK(resolve(asked).nodes == 2);

  ClusterChoice bare = own(2, 1, "T4");
  CHECK(error_of(bare).hint().find("cluster.network (") != std::string::npos);
  bare.network = "tcp";
  CHECK(error_of(bare).hint().find("cluster.inter_node_gbits_per_s") != std::string::npos);
  bare.inter_node_gbits_per_s = 25;
  CHECK(resolve(bare).machine.nics == 1);  // a node on a network has a card
  bare.network = "infinband";
  CHECK(error_of(bare).where() == "scenario.json: /cluster/network");
}

TEST_CASE("Unknown machines and GPUs are errors with a suggestion") {
  CHECK(error_of(choice("Standard_ND96amsr_A100_v5", 8)).hint().find("Standard_ND96amsr_A100_v4") != std::string::npos);
  CHECK(error_of(own(1, 1, "T5")).where() == "scenario.json: /cluster/gpu");
}

TEST_CASE("Retired machines work, with a warning that names the successor") {
  const Cluster cluster = resolve(choice("Standard_NC6s_v3", 1));
  CHECK(warns_of(cluster, "2025-09-30"));
  CHECK(warns_of(cluster, "Standard_NC24ads_A100_v4"));
}

TEST_CASE("A NIC wider than its PCIe slot is said to be held back") {
  ClusterChoice asked = choice("Standard_NC64as_T4_v3", 8);
  CHECK(resolve(asked).warnings.empty());  // 32 Gb/s pass a gen3 slot
  asked.inter_node_gbits_per_s = 400;
  CHECK(warns_of(resolve(asked), "PCIe slot"));
}

TEST_CASE("Impossible numbers are refused, each at its place") {
  const auto where = [](const std::function<void(ClusterChoice&)>& change) {
    ClusterChoice asked = choice("Standard_ND96amsr_A100_v4", 16);
    change(asked);
    return error_of(asked).where();
  };
  const std::string cluster = "scenario.json: /cluster/";
  for (const std::int64_t gpus :
       {std::int64_t{0}, std::int64_t{-8}, std::int64_t{most_gpus} + 1, std::numeric_limits<std::int64_t>::max()}) {
    CHECK(where([&](ClusterChoice& c) { c.gpus = gpus; }) == cluster + "gpus");
  }
  CHECK(where([](ClusterChoice& c) { c.gpus_per_node = 0; }) == cluster + "gpus_per_node");
  CHECK(where([](ClusterChoice& c) { c.gpus_per_node = 100000; }) == cluster + "gpus_per_node");
  CHECK(where([](ClusterChoice& c) { c.nics_per_node = 0; }) == cluster + "nics_per_node");
  CHECK(where([](ClusterChoice& c) { c.vcpus = -1; }) == cluster + "vcpus");
  CHECK(where([](ClusterChoice& c) { c.nodes_per_leaf = 0; }) == cluster + "nodes_per_leaf");
  CHECK(where([](ClusterChoice& c) { c.intra_node_gbytes_per_s = 0; }) == cluster + "intra_node_gbytes_per_s");
  CHECK(where([](ClusterChoice& c) { c.inter_node_gbits_per_s = -1; }) == cluster + "inter_node_gbits_per_s");
  CHECK(where([](ClusterChoice& c) { c.network_achieved_fraction = 1.01; }) == cluster + "network_achieved_fraction");
  CHECK(where([](ClusterChoice& c) { c.price_usd_per_hour = -0.01; }) == cluster + "price_usd_per_hour");
  CHECK(where([](ClusterChoice& c) { c.oversubscription = 0.5; }) == cluster + "oversubscription");
  CHECK(where([](ClusterChoice& c) { c.straggler_slowdown = 0; }) == cluster + "straggler_slowdown");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(where([&](ClusterChoice& c) { c.oversubscription = nan; }) == cluster + "oversubscription");
  CHECK(where([&](ClusterChoice& c) { c.inter_node_gbits_per_s = nan; }) == cluster + "inter_node_gbits_per_s");
  // Oversubscription says nothing without leaves.
  CHECK(where([](ClusterChoice& c) { c.oversubscription = 2; }) == "scenario.json: /cluster");
}

TEST_CASE("More network cards than could be built are refused") {
  ClusterChoice asked = choice("Standard_NC24ads_A100_v4", most_gpus);  // one GPU each: a million nodes
  asked.nics_per_node = 256;
  CHECK(error_of(asked).hint().find("network cards") != std::string::npos);
}

// Every machine of the catalogue, at one and three nodes: links and costs can be made and behave.
TEST_CASE("Costs on every shipped machine grow with bytes and are positive") {
  for (const std::string& name : catalogue().machine_names()) {
    const int gpus = catalogue().machine(name).gpus;
    for (const int nodes : {1, 3}) {
      ClusterChoice asked = choice(name, std::int64_t{gpus} * nodes);
      if (nodes > 1 && !catalogue().machine(name).inter_node_bandwidth) asked.inter_node_gbits_per_s = 40;
      if (nodes > 1 && catalogue().machine(name).network.empty()) asked.network = "tcp";
      if (asked.gpus == 1) continue;
      const Cluster cluster = resolve(asked);
      ParameterTable parameters;
      const Topology topology(cluster, parameters);
      const CollectiveCosts costs(cluster, topology, catalogue(), parameters);
      double before = 1e-6;
      for (double bytes = 1024; bytes < 1e11; bytes *= 4) {
        const CollectivePlan plan = costs.plan(calibrate::CollectiveKind::reduce_scatter, Bytes(bytes),
                                               {static_cast<int>(asked.gpus), nodes, gpus});
        INFO(name << ", " << nodes << " nodes, " << bytes << " bytes: " << plan.how);
        CHECK(plan.alone.time.value >= before * (1 - 1e-12));
        before = plan.alone.time.value;
      }
      for (const Parameter& parameter : parameters.rows()) {
        INFO(name << ": " << parameter.name);
        CHECK(parameter.relative_spread > 0);
        CHECK_FALSE(parameter.source.empty());
      }
    }
  }
}

// What nccl-tests printed for large all-reduces, bus bandwidth in GB/s.
TEST_CASE("Large all-reduces come within the spread of what was measured") {
  struct Published {
    const char* machine;
    int gpus;
    double bus_gbytes_per_s;
    const char* source;
  };
  for (const Published& row :
       {Published{"Standard_ND96asr_v4", 8, 235.3, "Azure/AI-benchmarking-guide"},
        Published{"Standard_ND96asr_v4", 16, 187.2, "Azure/aks-rdma-infiniband"},
        Published{"DGX A100", 16, 188.5, "NVIDIA/deepops"}, Published{"DGX A100", 32, 191.0, "NVIDIA/deepops"}}) {
    const Cluster cluster = resolve(choice(row.machine, row.gpus));
    ParameterTable parameters;
    const Topology topology(cluster, parameters);
    const double bytes = 8.0 * 1024 * 1024 * 1024;
    const CollectivePlan plan =
        CollectiveCosts(cluster, topology, catalogue(), parameters)
            .plan(calibrate::CollectiveKind::all_reduce, Bytes(bytes), {row.gpus, row.gpus / 8, 8});
    const double bus = bytes * 2 * (row.gpus - 1) / row.gpus / plan.alone.time.value / 1e9;
    const double spread = parameters.at(plan.alone.parameter).relative_spread;
    INFO(row.machine << ", " << row.gpus << " GPUs (" << row.source << "): " << bus);
    CHECK(bus == Approx(row.bus_gbytes_per_s).epsilon(spread));
  }
}

}  // namespace
}  // namespace foretrain::sim
