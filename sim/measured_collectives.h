// MeasuredCollectives: times of collectives inside one node, read from the tables that fit a cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "calibrate/collective_profile.h"
#include "sim/cluster.h"

namespace foretrain::sim {

struct MeasuredTime {
  Seconds latency;  // the part that does not grow with bytes; at most `alone`
  Seconds alone;
  std::string how;  // which tables, with their source
};

class MeasuredCollectives {
 public:
  // Keeps the tables of the cluster's device (or else of its generation) and intra-node links; `tables` must
  // outlive it.
  MeasuredCollectives(const Cluster& cluster, const std::vector<calibrate::CollectiveTable>& tables);

  // Time of `kind` over `ranks` consecutive GPUs, or nothing without tables. Within a table between its points
  // log-log, beyond the largest at its bus bandwidth, below the smallest latency plus bytes in proportion;
  // the latency is the smallest message's time less what its bytes take at the bus bandwidth of the largest.
  // Rank counts between those of two tables are interpolated in the logarithm of the count.
  [[nodiscard]] std::optional<MeasuredTime> time(calibrate::CollectiveKind kind, Bytes bytes, int ranks) const;
  // Bus bandwidth of large all-reduces over `ranks` consecutive GPUs, or nothing without tables.
  [[nodiscard]] std::optional<BytesPerSecond> bus_bandwidth(int ranks) const;
  // The largest relative spread of the tables, or nothing without tables.
  [[nodiscard]] std::optional<double> relative_spread() const;

 private:
  struct Neighbours {
    const calibrate::CollectiveTable* below = nullptr;  // the same table twice when there is one of that rank count
    const calibrate::CollectiveTable* above = nullptr;
    double weight_above = 0;
  };
  [[nodiscard]] std::optional<Neighbours> neighbours(calibrate::CollectiveKind kind, int ranks) const;

  std::vector<const calibrate::CollectiveTable*> tables_;
};

}  // namespace foretrain::sim
