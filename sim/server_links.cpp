#include "sim/server_links.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain::sim {
namespace {

// Flows between workers and servers are made pair by pair: so many take about a hundred megabytes and some seconds.
constexpr double most_pairs = 1 << 18;

bool stand_apart(const calibrate::Stack& stack) { return stack.at("servers_apart").value != 0; }

int server_count(const Cluster& cluster, const calibrate::Stack& stack) {
  const double asked = stack.at("servers").value;
  if (asked != std::floor(asked)) {
    throw Error(fmt::format("{} parameter servers", asked), "/stack/options/servers",
                "a whole number, 0 for one per node");
  }
  const double count = asked == 0 ? cluster.nodes : asked;
  if (count * cluster.gpus > most_pairs) {
    throw Error(fmt::format("{:.0f} parameter servers of {} GPUs are more than can be followed", count, cluster.gpus),
                "/stack/options/servers",
                cluster.gpus > most_pairs
                    ? std::string("use another way of sharing gradients (stack.reducer)")
                    : fmt::format("at most {:.0f} servers for so many GPUs", std::floor(most_pairs / cluster.gpus)));
  }
  return static_cast<int>(count);
}

ParameterId stack_parameter(const calibrate::Stack& stack, const std::string& key, const std::string& name,
                            ParameterTable& parameters) {
  const calibrate::StackValue& value = stack.at(key);
  return parameters.add({fmt::format("{} ({})", name, stack.name), value.relative_spread, value.provenance,
                         value.source, value.value, value.unit});
}

double positive(const calibrate::Stack& stack, const std::string& key) {
  const double value = stack.at(key).value;
  if (value > 0) return value;
  throw Error(fmt::format("stack.options.{} is {}", key, value), "/stack/options/" + key, "a number above 0");
}

}  // namespace

bool has_parameter_servers(const std::string& reducer) { return reducer == "parameter_server" || reducer == "kvstore"; }

std::vector<int> server_nodes(const Cluster& cluster, const calibrate::Stack& stack) {
  if (stand_apart(stack) && cluster.network == nullptr) {
    throw Error("parameter servers on nodes of their own, and the workers' one node has no network",
                "/stack/options/servers_apart", "0 lets the servers share the workers' node; or use several nodes");
  }
  std::vector<int> nodes;
  for (int server = 0; server < server_count(cluster, stack); ++server) {
    nodes.push_back(stand_apart(stack) ? cluster.nodes + server : server % cluster.nodes);
  }
  return nodes;
}

std::optional<ServerLinks> server_links(const Cluster& cluster, const std::string& reducer,
                                        const calibrate::Stack& stack, const calibrate::CollectiveConstants& constants,
                                        ParameterTable& parameters) {
  if (!has_parameter_servers(reducer)) return std::nullopt;
  ServerLinks links;
  if (stand_apart(stack)) links.nodes_apart = static_cast<int>(server_nodes(cluster, stack).size());
  links.host_rate = BytesPerSecond(positive(stack, "server_bytes_per_second"));
  links.host_parameter = stack_parameter(stack, "server_bytes_per_second", "memory of parameter servers", parameters);
  links.variables_on_gpu = stack.at("servers_on_gpu").value != 0;
  links.network_share = std::min(1.0, positive(stack, "server_network_share"));
  links.network_parameter =
      stack_parameter(stack, "server_network_share", "network share of parameter servers", parameters);
  const auto slot = constants.pcie_bandwidth.find(cluster.device->generation);
  if (slot == constants.pcie_bandwidth.end()) return links;
  links.pcie_rate = slot->second * constants.ring_efficiency;
  links.pcie_parameter = parameters.add({"PCIe bandwidth of " + cluster.machine.device, constants.relative_spread,
                                         Provenance::fitted, constants.source, links.pcie_rate->value / 1e9, "GB/s"});
  return links;
}

}  // namespace foretrain::sim
