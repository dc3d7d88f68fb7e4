// Collective profiles: measured times of NCCL collectives inside a node, and the constants that stand
// in for them beyond the tables.
//
// A table (from nccl-tests logs, with source) is primary: log-log interpolation between its points.
// Beyond it, and across nodes, α–β with NCCL's own latency constants (calibrate/collectives/*.json).
// Bus bandwidth is nccl-tests': all-reduce busbw = 2(n-1)/n · bytes / time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"

namespace foretrain::calibrate {

// The last three are exchanges with parameter servers: every client sends or receives all bytes; the servers read and
// write so many bytes of their own memory.
// clang-format off
enum class CollectiveKind {
  all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send_receive, push, pull, update
};
// clang-format on
[[nodiscard]] const char* to_string(CollectiveKind kind);
// Bytes each rank puts on its link per byte of the operation: 2(n-1)/n for all-reduce, (n-1)/n for
// reduce-scatter, all-gather and all-to-all, 1 for broadcast and send/receive (nccl-tests PERFORMANCE), and for
// exchanges with parameter servers.
[[nodiscard]] double bus_factor(CollectiveKind kind, int ranks);
// Of the kinds that tables may measure.
[[nodiscard]] const std::vector<std::string>& collective_kind_names();
[[nodiscard]] constexpr bool is_with_servers(CollectiveKind kind) { return kind >= CollectiveKind::push; }

struct CollectiveTable {
  std::string device;      // Device::name, or a generation
  std::string intra_node;  // to_string(IntraNode)
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 0;
  // Of the links that it was measured on, per GPU and direction; it says nothing of faster or slower ones.
  std::optional<BytesPerSecond> link_bandwidth;
  std::vector<double> bytes;  // ascending
  std::vector<double> seconds;
  double relative_spread = 0;
  std::string source;
};

// Latency of algorithms and links, as NCCL's tuning has it.
struct CollectiveConstants {
  Seconds ring_base, tree_base;    // once per operation
  Seconds nvlink_step, pcie_step;  // one intra-node step; inter-node steps are NetworkKind::hop_latency
  double ring_efficiency = 1, tree_efficiency = 1;  // of link bandwidth, for large messages
  // What a GPU's PCIe slot carries in one direction before ring_efficiency, by Device::generation.
  std::map<std::string, BytesPerSecond> pcie_bandwidth;
  double pcie_scaling_loss_factor = 1;  // as NetworkKind::scaling_loss_factor, for nodes whose GPUs PCIe joins
  double relative_spread = 0;
  std::string source;
};

}  // namespace foretrain::calibrate
