// Machine: one node as a cloud or vendor sells it: GPUs, what joins them, network cards, price.
//
// From calibrate/machines/*.json. A rate that nobody publishes is absent (the user is asked for it), a
// price that nobody publishes is unknown; neither is ever taken as zero.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"

namespace foretrain::calibrate {

enum class IntraNode { none, nvswitch, nvlink_hybrid_cube_mesh, nvlink_pairs, pcie };
[[nodiscard]] const char* to_string(IntraNode kind);
[[nodiscard]] const std::vector<std::string>& intra_node_names();

// What a kind of network achieves of its line rate and costs per hop (calibrate/networks/*.json).
struct NetworkKind {
  std::string name;                // "infiniband", "roce", "tcp", "efa"
  double achieved_fraction = 1.0;  // of the node's line rate, for large collectives
  double achieved_spread = 0;
  // How much of achieved_fraction smaller messages reach, by bytes per NIC of one operation (ascending;
  // interpolated in log space; empty = all of it). From nccl-tests logs.
  std::vector<double> message_bytes_per_nic, message_share;
  Seconds hop_latency;             // one inter-node step of a ring or tree
  double hop_spread = 0;
  double time_jitter_per_doubling = 0;  // relative growth of the slowest rank's step per doubling of nodes
  double scaling_loss_factor = 1;  // how much wider than usual the unexplained loss of scaling is over it
  std::string source;
};

struct Machine {
  std::string name, vendor, device;
  int gpus = 1;
  IntraNode intra_node = IntraNode::none;
  std::optional<BytesPerSecond> intra_node_bandwidth;  // per GPU and direction, over the best link kind
  int nics = 0;                                        // network cards that collectives use
  std::optional<BytesPerSecond> inter_node_bandwidth;  // sum over the node's NICs, per direction, line rate
  std::string network;                                 // a NetworkKind's name; empty = single node only
  int vcpus = 0;                                       // 0 = not stated
  std::optional<double> price_usd_per_hour;
  std::string price_note;   // region and date
  std::string retired;      // date, empty = current
  std::string successor;
  std::string source, notes;
};

}  // namespace foretrain::calibrate
