#include "sim/measured_collectives.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/statistics.h"

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;
using calibrate::CollectiveTable;

MeasuredTime time_in(const CollectiveTable& table, Bytes bytes) {
  const double first = table.bytes.front(), last = table.bytes.back();
  const Seconds smallest(table.seconds.front()), largest(table.seconds.back());
  const Seconds latency = std::max(Seconds(0), smallest - largest * (first / last));
  MeasuredTime result{latency, {}, fmt::format("table of {} ranks ({})", table.ranks, table.source)};
  if (bytes.value <= first) {
    result.alone = latency + (smallest - latency) * (bytes.value / first);
  } else if (bytes.value >= last) {
    result.alone = largest * (bytes.value / last);
  } else {
    result.alone = Seconds(interpolate_log_log(table.bytes, table.seconds, bytes.value));
  }
  result.latency = std::min(result.latency, result.alone);
  return result;
}

Seconds between(Seconds below, Seconds above, double weight_above) { return below + (above - below) * weight_above; }

// A table of links of another rate says nothing of these.
bool same_links(const CollectiveTable& table, const calibrate::Machine& machine) {
  constexpr double tolerance = 0.02;
  if (!table.link_bandwidth || !machine.intra_node_bandwidth) return true;
  return std::abs(*machine.intra_node_bandwidth / *table.link_bandwidth - 1) < tolerance;
}

}  // namespace

MeasuredCollectives::MeasuredCollectives(const Cluster& cluster, const std::vector<CollectiveTable>& tables) {
  const std::string fabric = calibrate::to_string(cluster.machine.intra_node);
  const auto keep = [&](const std::string& device) {
    for (const CollectiveTable& table : tables) {
      const bool speaks = table.device == device && table.intra_node == fabric && same_links(table, cluster.machine);
      if (speaks && !table.bytes.empty()) tables_.push_back(&table);
    }
  };
  keep(cluster.machine.device);
  if (tables_.empty() && cluster.device != nullptr) keep(cluster.device->generation);
}

std::optional<MeasuredCollectives::Neighbours> MeasuredCollectives::neighbours(CollectiveKind kind, int ranks) const {
  Neighbours found;
  for (const CollectiveTable* table : tables_) {
    if (table->kind != kind) continue;
    if (table->ranks <= ranks && (!found.below || table->ranks > found.below->ranks)) found.below = table;
    if (table->ranks >= ranks && (!found.above || table->ranks < found.above->ranks)) found.above = table;
  }
  if (!found.below || !found.above) return std::nullopt;
  if (found.below->ranks < found.above->ranks) {
    found.weight_above = std::log(static_cast<double>(ranks) / found.below->ranks) /
                         std::log(static_cast<double>(found.above->ranks) / found.below->ranks);
  }
  return found;
}

std::optional<MeasuredTime> MeasuredCollectives::time(CollectiveKind kind, Bytes bytes, int ranks) const {
  const std::optional<Neighbours> tables = neighbours(kind, ranks);
  if (!tables) return std::nullopt;
  MeasuredTime below = time_in(*tables->below, bytes);
  if (tables->below->ranks == tables->above->ranks) return below;
  const MeasuredTime above = time_in(*tables->above, bytes);
  return MeasuredTime{between(below.latency, above.latency, tables->weight_above),
                      between(below.alone, above.alone, tables->weight_above), below.how + " and " + above.how};
}

std::optional<BytesPerSecond> MeasuredCollectives::bus_bandwidth(int ranks) const {
  const std::optional<Neighbours> tables = neighbours(CollectiveKind::all_reduce, ranks);
  if (!tables) return std::nullopt;
  const auto seconds_per_byte = [](const CollectiveTable& table) {
    return Seconds(table.seconds.back() / table.bytes.back());
  };
  const Seconds per_byte =
      between(seconds_per_byte(*tables->below), seconds_per_byte(*tables->above), tables->weight_above);
  return Bytes(calibrate::bus_factor(CollectiveKind::all_reduce, ranks)) / per_byte;
}

std::optional<double> MeasuredCollectives::relative_spread() const {
  std::optional<double> largest;
  for (const CollectiveTable* table : tables_) largest = std::max(largest.value_or(0), table->relative_spread);
  return largest;
}

}  // namespace foretrain::sim
