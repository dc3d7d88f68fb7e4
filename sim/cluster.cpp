#include "sim/cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/measured_collectives.h"

namespace foretrain::sim {
namespace {

using calibrate::Catalogue;
using calibrate::IntraNode;
using calibrate::Machine;

// Bounds of what is built: a larger node or more network cards than this are typing errors.
constexpr std::int64_t most_gpus_per_node = 1024;
constexpr std::int64_t most_nics_per_node = 256;
constexpr std::int64_t most_nics = std::int64_t{8} * most_gpus;

std::string field(const ClusterChoice& choice, const char* key) {
  return choice.where.empty() ? fmt::format("cluster.{}", key) : choice.where + "/" + key;
}

void check_count(const ClusterChoice& choice, const char* key, std::optional<std::int64_t> value, std::int64_t most) {
  if (!value || (*value >= 1 && *value <= most)) return;
  throw Error(fmt::format("cluster.{} is {}", key, *value), field(choice, key),
              fmt::format("a whole number from 1 to {}", most));
}

void check_rate(const ClusterChoice& choice, const char* key, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return;
  throw Error(fmt::format("cluster.{} is {}", key, *value), field(choice, key), "a number above 0");
}

void check_numbers(const ClusterChoice& choice) {
  check_count(choice, "gpus", choice.gpus, most_gpus);
  check_count(choice, "gpus_per_node", choice.gpus_per_node, most_gpus_per_node);
  check_count(choice, "nics_per_node", choice.nics_per_node, most_nics_per_node);
  check_count(choice, "vcpus", choice.vcpus, most_gpus);
  check_count(choice, "nodes_per_leaf", choice.nodes_per_leaf, most_gpus);
  check_rate(choice, "intra_node_gbytes_per_s", choice.intra_node_gbytes_per_s);
  check_rate(choice, "inter_node_gbits_per_s", choice.inter_node_gbits_per_s);
  check_rate(choice, "network_achieved_fraction", choice.network_achieved_fraction);
  if (choice.network_achieved_fraction.value_or(1) > 1) {
    throw Error(fmt::format("cluster.network_achieved_fraction is {}", *choice.network_achieved_fraction),
                field(choice, "network_achieved_fraction"), "a share of the line rate, above 0 and at most 1");
  }
  if (const double price = choice.price_usd_per_hour.value_or(0); !std::isfinite(price) || price < 0) {
    throw Error(fmt::format("cluster.price_usd_per_hour is {}", price), field(choice, "price_usd_per_hour"),
                "dollars per hour of one machine, 0 or more");
  }
  if (!(choice.oversubscription >= 1) || !std::isfinite(choice.oversubscription)) {
    throw Error(fmt::format("cluster.oversubscription is {}", choice.oversubscription),
                field(choice, "oversubscription"), "leaf downlinks over uplinks, 1 (non-blocking) or more");
  }
  if (!(choice.straggler_slowdown >= 1) || !std::isfinite(choice.straggler_slowdown)) {
    throw Error(fmt::format("cluster.straggler_slowdown is {}", choice.straggler_slowdown),
                field(choice, "straggler_slowdown"), "how many times slower one GPU computes, 1 or more");
  }
}

IntraNode intra_node_of(const std::string& name, const ClusterChoice& choice) {
  for (const IntraNode kind : {IntraNode::none, IntraNode::nvswitch, IntraNode::nvlink_hybrid_cube_mesh,
                               IntraNode::nvlink_pairs, IntraNode::pcie}) {
    if (name == calibrate::to_string(kind)) return kind;
  }
  throw Error("cluster.intra_node: no kind of link is called " + quoted(name), field(choice, "intra_node"),
              name_hint(name, calibrate::intra_node_names()));
}

// A machine described field by field; what it does not say stays unknown.
Machine own_machine(const ClusterChoice& choice) {
  if (!choice.gpu || !choice.gpus_per_node) {
    throw Error("the cluster has neither a machine of the catalogue nor its own gpu and gpus_per_node", choice.where,
                "set cluster.machine (see: foretrain list machines), or cluster.gpu and cluster.gpus_per_node");
  }
  Machine machine;
  machine.name = fmt::format("{} × {}", *choice.gpus_per_node, *choice.gpu);
  machine.source = "given in the scenario";
  return machine;
}

// Applies what the user wrote. Of a catalogue machine only that changes, and what no longer follows from it:
// the link rate with the kind of link, the price with the GPUs.
void apply_fields(const ClusterChoice& choice, const Catalogue& catalogue, Machine& machine,
                  std::vector<std::string>& warnings) {
  const std::string priced_device = machine.device;
  const int priced_gpus = machine.gpus;
  if (choice.gpu) machine.device = catalogue.device(*choice.gpu, field(choice, "gpu")).name;
  if (choice.gpus_per_node) machine.gpus = static_cast<int>(*choice.gpus_per_node);
  if (choice.intra_node) {
    const IntraNode kind = intra_node_of(*choice.intra_node, choice);
    if (kind != machine.intra_node) machine.intra_node_bandwidth.reset();
    machine.intra_node = kind;
  }
  if (choice.intra_node_gbytes_per_s) machine.intra_node_bandwidth = gbytes_per_s(*choice.intra_node_gbytes_per_s);
  if (choice.nics_per_node) machine.nics = static_cast<int>(*choice.nics_per_node);
  if (choice.inter_node_gbits_per_s) machine.inter_node_bandwidth = gbits_per_s(*choice.inter_node_gbits_per_s);
  if (choice.network) machine.network = *choice.network;
  if (choice.vcpus) machine.vcpus = static_cast<int>(*choice.vcpus);
  if (choice.price_usd_per_hour) {
    machine.price_usd_per_hour = choice.price_usd_per_hour;
    machine.price_note = "given in the scenario";
  } else if (machine.price_usd_per_hour && (machine.device != priced_device || machine.gpus != priced_gpus)) {
    machine.price_usd_per_hour.reset();
    warnings.push_back(
        fmt::format("the price of {} is not that of one with other GPUs: cost is unknown until "
                    "cluster.price_usd_per_hour is given",
                    printable(machine.name)));
  }
}

// What the PCIe slot of the cluster's GPU carries, if the catalogue knows its generation.
std::optional<BytesPerSecond> pcie_slot(const Cluster& cluster, const calibrate::CollectiveConstants& constants) {
  const auto found = constants.pcie_bandwidth.find(cluster.device->generation);
  if (found == constants.pcie_bandwidth.end()) return std::nullopt;
  return found->second;
}

// Links inside a node: their rate must be known once two GPUs of a node are used.
void resolve_intra_node(const ClusterChoice& choice, const Catalogue& catalogue, Cluster& cluster) {
  Machine& machine = cluster.machine;
  if (machine.gpus == 1) machine.intra_node = IntraNode::none;
  if (std::min(cluster.gpus, machine.gpus) == 1) return;
  if (machine.intra_node == IntraNode::none) {
    std::vector<std::string> kinds = calibrate::intra_node_names();
    kinds.erase(std::remove(kinds.begin(), kinds.end(), calibrate::to_string(IntraNode::none)), kinds.end());
    throw Error(
        fmt::format("what joins the {} GPUs of a node of {} is not known", machine.gpus, printable(machine.name)),
        choice.where, "set cluster.intra_node: " + joined(kinds));
  }
  const calibrate::CollectiveConstants& constants = catalogue.collective_constants();
  const std::optional<BytesPerSecond> slot = pcie_slot(cluster, constants);
  cluster.intra_node_source = machine.source;
  if (!machine.intra_node_bandwidth && machine.intra_node == IntraNode::pcie && slot) {
    machine.intra_node_bandwidth = slot;
    cluster.intra_node_provenance = Provenance::assumed;
    cluster.intra_node_source = constants.source;
    cluster.warnings.push_back(
        fmt::format("PCIe is taken to carry {} per GPU and direction, as on {} GPUs; "
                    "cluster.intra_node_gbytes_per_s would replace that",
                    format_rate(*slot), cluster.device->generation));
  }
  if (!machine.intra_node_bandwidth) {
    throw Error(fmt::format("the bandwidth of {} inside a node of {} is not known",
                            calibrate::to_string(machine.intra_node), printable(machine.name)),
                choice.where, "set cluster.intra_node_gbytes_per_s (10⁹ bytes per second, per GPU and direction)");
  }
  if (choice.intra_node_gbytes_per_s) {
    cluster.intra_node_provenance = Provenance::given;
    cluster.intra_node_source = "given in the scenario";
  }
  if (machine.intra_node == IntraNode::nvlink_pairs) {
    if (!slot) {
      throw Error(fmt::format("the PCIe bandwidth of {} GPUs, which joins NVLink pairs, is not in the catalogue",
                              cluster.device->generation),
                  choice.where, "set cluster.intra_node to another kind");
    }
    cluster.pcie_bandwidth = *slot * constants.ring_efficiency;
  }
  cluster.intra_node_achieved_fraction = constants.ring_efficiency;
  // Where collectives were measured on these links, times are as sure as those measurements.
  cluster.intra_node_spread =
      MeasuredCollectives(cluster, catalogue.collective_tables()).relative_spread().value_or(constants.relative_spread);
}

// Topology lets a NIC pass no more than a PCIe slot of its node; that may be less than its line rate.
void warn_of_slots(Cluster& cluster) {
  const Machine& machine = cluster.machine;
  std::optional<BytesPerSecond> slot = cluster.pcie_bandwidth;
  if (machine.intra_node == IntraNode::pcie) {
    slot = *machine.intra_node_bandwidth * cluster.intra_node_achieved_fraction;
  }
  const BytesPerSecond nic = *machine.inter_node_bandwidth * cluster.network_achieved_fraction / machine.nics;
  if (!slot || nic <= *slot) return;
  cluster.warnings.push_back(fmt::format("each network card could carry {}, but its PCIe slot is taken to pass {}",
                                         format_rate(nic), format_rate(*slot)));
}

void resolve_network(const ClusterChoice& choice, const Catalogue& catalogue, bool leaves_node, Cluster& cluster) {
  Machine& machine = cluster.machine;
  if (cluster.nodes == 1 && !leaves_node) return;
  const std::string need =
      cluster.nodes == 1 ? "the job uses nodes beside its " + printable(machine.name)
                         : fmt::format("{} GPUs take {} nodes of {}", cluster.gpus, cluster.nodes, printable(machine.name));
  if (machine.network.empty()) {
    throw Error(need + ", and the kind of network between them is not known", choice.where,
                "set cluster.network (" + joined(catalogue.network_names()) +
                    (machine.inter_node_bandwidth ? ")" : ") and cluster.inter_node_gbits_per_s"));
  }
  if (!machine.inter_node_bandwidth) {
    throw Error(need + ", and the network rate of that machine is not known", choice.where,
                "set cluster.inter_node_gbits_per_s (the sum over a node's network cards, per direction)");
  }
  machine.nics = std::max(machine.nics, 1);
  if (std::int64_t{machine.nics} * cluster.nodes > most_nics) {
    throw Error(fmt::format("{} nodes with {} network cards each are too many", cluster.nodes, machine.nics),
                choice.where, fmt::format("at most {} network cards in all", most_nics));
  }
  cluster.network = &catalogue.network(machine.network, field(choice, "network"));
  cluster.achieved_fraction_given = choice.network_achieved_fraction.has_value();
  cluster.network_achieved_fraction = choice.network_achieved_fraction.value_or(cluster.network->achieved_fraction);
  warn_of_slots(cluster);
  cluster.nodes_per_leaf = static_cast<int>(choice.nodes_per_leaf.value_or(0));
  cluster.oversubscription = choice.oversubscription;
  if (choice.oversubscription > 1 && !choice.nodes_per_leaf) {
    throw Error("cluster.oversubscription needs the number of nodes under a leaf switch", choice.where,
                "set cluster.nodes_per_leaf");
  }
}

void warn_of_retirement(Cluster& cluster) {
  const Machine& machine = cluster.machine;
  if (machine.retired.empty()) return;
  std::string text = fmt::format("{} is retired since {}", printable(machine.name), printable(machine.retired));
  if (!machine.successor.empty()) text += "; its successor is " + printable(machine.successor);
  cluster.warnings.push_back(std::move(text));
}

}  // namespace

Cluster resolve_cluster(const ClusterChoice& choice, const Catalogue& catalogue, bool leaves_node) {
  check_numbers(choice);
  Cluster cluster;
  cluster.machine =
      choice.machine.empty() ? own_machine(choice) : catalogue.machine(choice.machine, field(choice, "machine"));
  warn_of_retirement(cluster);
  apply_fields(choice, catalogue, cluster.machine, cluster.warnings);
  cluster.device = &catalogue.device(cluster.machine.device, field(choice, "gpu"));
  cluster.gpus = static_cast<int>(choice.gpus);
  cluster.nodes = (cluster.gpus + cluster.machine.gpus - 1) / cluster.machine.gpus;
  resolve_intra_node(choice, catalogue, cluster);
  resolve_network(choice, catalogue, leaves_node, cluster);
  return cluster;
}

}  // namespace foretrain::sim
