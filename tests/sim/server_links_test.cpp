#include "sim/server_links.h"

#include <string>

#include "base/error.h"
#include "sim/topology.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim {
namespace {

struct Choice {
  ClusterChoice cluster;
  calibrate::Stack stack = studies::catalogue().stack("tensorflow-parameter-server");
  ParameterTable parameters;

  explicit Choice(int gpus, const char* machine = "p2.8xlarge") {
    cluster.machine = machine;
    cluster.gpus = gpus;
  }
  void set(const std::string& key, double value) { stack.values.at(key).value = value; }
  Cluster resolved() const { return resolve_cluster(cluster, studies::catalogue()); }
  std::vector<int> nodes() const { return server_nodes(resolved(), stack); }
  std::optional<ServerLinks> links() {
    return server_links(resolved(), stack.reducer, stack, studies::catalogue().collective_constants(), parameters);
  }
};

std::string where_refused(const Choice& choice) {
  try {
    static_cast<void>(choice.nodes());
  } catch (const Error& error) {
    return error.where();
  }
  return "accepted";
}

TEST_CASE("Servers: one per node unless said, sharing the workers' nodes or on nodes after them") {
  Choice choice(20);  // three nodes of eight
  CHECK(choice.nodes() == std::vector<int>{0, 1, 2});
  choice.set("servers", 2);
  CHECK(choice.nodes() == std::vector<int>{0, 1});
  choice.set("servers", 5);
  CHECK(choice.nodes() == std::vector<int>{0, 1, 2, 0, 1});
  choice.set("servers_apart", 1);
  CHECK(choice.nodes() == std::vector<int>{3, 4, 5, 6, 7});
  choice.set("servers", 0);
  CHECK(choice.nodes() == std::vector<int>{3, 4, 5});
}

TEST_CASE("Numbers of servers that make no sense or are too many are refused") {
  Choice choice(16);
  choice.set("servers", 1.5);
  CHECK(where_refused(choice) == "/stack/options/servers");
  choice.set("servers", 1e9);
  CHECK(where_refused(choice) == "/stack/options/servers");
  choice.set("servers", 64);
  CHECK(where_refused(choice) == "accepted");
  Choice alone(8);
  alone.set("servers_apart", 1);
  CHECK(where_refused(alone) == "/stack/options/servers_apart");
}

TEST_CASE("Links are those of the stack and of the GPU's slot") {
  Choice choice(16);
  choice.set("servers_apart", 1);
  const std::optional<ServerLinks> links = choice.links();
  REQUIRE(links);
  CHECK(links->nodes_apart == 2);
  CHECK(links->host_rate.value == choice.stack.at("server_bytes_per_second").value);
  CHECK(links->network_share == choice.stack.at("server_network_share").value);
  const calibrate::CollectiveConstants& constants = studies::catalogue().collective_constants();
  CHECK(links->pcie_rate->value ==
        Approx(constants.pcie_bandwidth.at("kepler").value * constants.ring_efficiency).epsilon(1e-12));
  CHECK(choice.parameters.at(links->network_parameter).name ==
        "network share of parameter servers (tensorflow-parameter-server)");
  // A rate of nothing is an error of the user, not an endless step.
  choice.set("server_bytes_per_second", 0);
  CHECK_THROWS_AS(choice.links(), Error);
}

TEST_CASE("Other ways of sharing gradients have no servers, one worker has") {
  Choice choice(16);
  CHECK_FALSE(server_links(choice.resolved(), "ddp", choice.stack, studies::catalogue().collective_constants(),
                           choice.parameters));
  CHECK(Choice(1).links());
  CHECK(Choice(1).nodes() == std::vector<int>{0});
  CHECK(has_parameter_servers("kvstore"));
}

TEST_CASE("A topology without servers is what it was, and with them it grows by memories, NIC shares and nodes") {
  Choice choice(16);
  const Cluster cluster = choice.resolved();
  const Topology without(cluster, choice.parameters);
  // PCIe: 8 ports and 2 uplinks both ways, a NIC both ways.
  CHECK(without.links().size() == 2 * (2 * (8 + 2) + 2));
  const Topology together(cluster, choice.parameters, choice.links());
  CHECK(together.nodes() == 2);
  CHECK(together.links().size() == without.links().size() + 2 * (1 + 2));
  choice.set("servers_apart", 1);
  const Topology apart(cluster, choice.parameters, choice.links());
  CHECK(apart.nodes() == 4);
  CHECK(apart.links().size() == 2 * together.links().size());
}

}  // namespace
}  // namespace foretrain::sim
