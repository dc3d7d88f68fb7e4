// Server links: what parameter servers add to a cluster: nodes of their own, the memory of their hosts, the share of
// the network that their software reaches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/collective_profile.h"
#include "calibrate/stack.h"
#include "sim/cluster.h"

namespace foretrain::sim {

struct ServerLinks {
  int nodes_apart = 0;  // of the same machine, after the nodes of the workers
  // At which a host sums pushed bytes up and hands pulled bytes out, both together.
  BytesPerSecond host_rate;
  ParameterId host_parameter;
  // Variables in GPU memory pass the host on their way; those in its memory are written there and read again.
  bool variables_on_gpu = false;
  double network_share = 1.0;  // of what collectives achieve on a NIC
  ParameterId network_parameter;
  // Of a GPU, to its host, in one direction, where GPUs of a node are joined by something better; none = not a limit.
  std::optional<BytesPerSecond> pcie_rate;
  ParameterId pcie_parameter;
};

// Whether gradients go to parameter servers ("parameter_server", "kvstore"), those of a single worker too.
[[nodiscard]] bool has_parameter_servers(const std::string& reducer);

// The nodes on which they stand: the first ones of the workers' nodes, one after the other (more servers than nodes
// share nodes), or nodes of their own after those. Throws Error for a number of servers that makes no sense, for one
// that with so many workers is more than can be followed, and for servers apart without a network.
[[nodiscard]] std::vector<int> server_nodes(const Cluster& cluster, const calibrate::Stack& stack);

// Nothing for a job without parameter servers. Their parameters are added to `parameters`.
[[nodiscard]] std::optional<ServerLinks> server_links(const Cluster& cluster, const std::string& reducer,
                                                      const calibrate::Stack& stack,
                                                      const calibrate::CollectiveConstants& constants,
                                                      ParameterTable& parameters);

}  // namespace foretrain::sim
