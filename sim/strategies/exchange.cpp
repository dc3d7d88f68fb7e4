#include "sim/strategies/exchange.h"

#include <algorithm>

#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

constexpr const char* all_ranks = "data";
constexpr const char* node = "node";
constexpr const char* across_nodes = "across nodes";

std::vector<std::vector<int>> ranks_by_node(int ranks, int ranks_per_node) {
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % ranks_per_node == 0) groups.emplace_back();
    groups.back().push_back(rank);
  }
  return groups;
}

// Ranks of equal local index; of uneven nodes only the first ranks meet, the others stay alone.
std::vector<std::vector<int>> ranks_by_local_index(int ranks, int ranks_per_node, bool even) {
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(ranks_per_node));
  for (int rank = 0; rank < ranks; ++rank) {
    const int local = rank % ranks_per_node;
    if (even || local == 0) {
      groups[static_cast<std::size_t>(local)].push_back(rank);
    } else {
      groups.push_back({rank});
    }
  }
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); }),
               groups.end());
  return groups;
}

}  // namespace

Exchange::Exchange(StepWriter& writer, std::uint16_t host)
    : writer_(writer),
      host_(host),
      ranks_(writer.layout().data()),
      ranks_per_node_(std::min(writer.input().cluster.gpus, writer.input().cluster.machine.gpus)),
      levels_(Levels::flat) {
  const bool by_levels = writer.stack("hierarchical") != 0 && writer.input().cluster.nodes > 1 && ranks_per_node_ > 1;
  if (by_levels) levels_ = ranks_ % ranks_per_node_ == 0 ? Levels::even : Levels::uneven;
}

std::vector<Communicator> Exchange::communicators() const {
  std::vector<Communicator> all = {writer_.layout().data_groups()};
  if (levels_ == Levels::flat) return all;
  all.push_back({node, ranks_by_node(ranks_, ranks_per_node_)});
  all.push_back({across_nodes, ranks_by_local_index(ranks_, ranks_per_node_, levels_ == Levels::even)});
  return all;
}

ActivityIndex Exchange::call(const char* communicator, CollectiveKind kind, const std::string& name, Bytes bytes,
                             const std::vector<ActivityIndex>& ready) {
  const Duration launch_time = writer_.host_time("collective_launch_seconds", 1);
  writer_.explain("collective calls", "launch", launch_time, "one per collective", 1);
  std::vector<ActivityIndex> waits = ready;
  waits.push_back(writer_.host_work("launch " + name, launch_time, {}, host_));
  Program& program = writer_.program();
  return program.add_collective(writer_.communication(), program.add_communicator(communicator), kind, bytes,
                                program.add_label(name), waits);
}

ActivityIndex Exchange::collective(CollectiveKind kind, const std::string& name, Bytes bytes,
                                   const std::vector<ActivityIndex>& ready) {
  return call(all_ranks, kind, name, bytes, ready);
}

// Each level follows the one before on the stream of communication.
ActivityIndex Exchange::average(const std::string& what, Bytes bytes, const std::vector<ActivityIndex>& ready) {
  switch (levels_) {
    case Levels::flat: break;
    case Levels::even:
      call(node, CollectiveKind::reduce_scatter, "reduce-scatter " + what + " inside nodes", bytes, ready);
      call(across_nodes, CollectiveKind::all_reduce, "all-reduce " + what + " across nodes", bytes / ranks_per_node_,
           {});
      return call(node, CollectiveKind::all_gather, "all-gather " + what + " inside nodes", bytes, {});
    case Levels::uneven:
      // A reduction to one rank is a broadcast run backwards: the same bytes on the same links.
      call(node, CollectiveKind::broadcast, "reduce " + what + " inside nodes", bytes, ready);
      call(across_nodes, CollectiveKind::all_reduce, "all-reduce " + what + " across nodes", bytes, {});
      return call(node, CollectiveKind::broadcast, "broadcast " + what + " inside nodes", bytes, {});
  }
  return call(all_ranks, CollectiveKind::all_reduce, "all-reduce " + what, bytes, ready);
}

}  // namespace foretrain::sim::strategies
