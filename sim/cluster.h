// Cluster: the machine of the catalogue with the user's changes, times a number of nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::sim {

struct Cluster {
  calibrate::Machine machine;  // resolved: the user's fields applied
  const calibrate::Device* device = nullptr;
  const calibrate::NetworkKind* network = nullptr;  // null while there is one node
  double network_achieved_fraction = 1.0;
  bool achieved_fraction_given = false;
  // Links inside a node: what large transfers achieve of machine.intra_node_bandwidth, and how sure that is.
  double intra_node_achieved_fraction = 1.0;
  double intra_node_spread = 0.0;
  Provenance intra_node_provenance = Provenance::datasheet;
  std::string intra_node_source;
  // What joins NVLink pairs, per GPU and direction, as achieved by large transfers.
  std::optional<BytesPerSecond> pcie_bandwidth;
  int gpus = 1;
  int nodes = 1;           // ceil(gpus / machine.gpus); the last node may be partly used
  int nodes_per_leaf = 0;  // 0 = non-blocking fabric
  double oversubscription = 1.0;
  std::vector<std::string> warnings;  // retired machine and its successor, assumed rates
};

// More GPUs than this are refused before anything is built.
inline constexpr int most_gpus = 1 << 20;

// Throws Error where something needed is missing (a network rate for several nodes) or impossible.
// `leaves_node`: the network is needed on one node too (something else than its GPUs stands on other nodes).
[[nodiscard]] Cluster resolve_cluster(const ClusterChoice& choice, const calibrate::Catalogue& catalogue,
                                      bool leaves_node = false);

}  // namespace foretrain::sim
