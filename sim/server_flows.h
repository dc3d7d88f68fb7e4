// Server flows: which links a group loads when it exchanges with parameter servers.
//
// Each client (a rank, or a node) sends every server its part of a push, out of its GPU or host, through its own
// NICs and the same NICs of the server's node into the memory of that host; a pull takes the way back. A server on
// the client's node is reached without NICs. An update is the work of the servers' memories alone.
#pragma once

#include <vector>

#include "sim/group_flows.h"
#include "sim/placement.h"
#include "sim/topology.h"

namespace foretrain::sim {

// Flows of all three kinds of exchange; `communicator.pattern` is servers, `topology` has parameter servers.
[[nodiscard]] std::vector<FlowTemplate> server_flows(const std::vector<int>& group, const Communicator& communicator,
                                                     const Topology& topology);

// `flows` are those of the group.
[[nodiscard]] GroupShape server_shape(const std::vector<int>& group, const Communicator& communicator,
                                      const Topology& topology, const std::vector<FlowTemplate>& flows);

}  // namespace foretrain::sim
