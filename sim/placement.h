// Placement: which ranks there are, of which class, and who talks to whom.
#pragma once

#include <string>
#include <vector>

namespace foretrain::sim {

// How data moves in a group: around its ranks, between each rank and the parameter servers, or from the first of exactly
// two ranks to the second (CollectiveKind::send_receive only).
enum class Pattern { ring, servers, pair };

// Who exchanges with parameter servers: each rank by itself, or the ranks of a node as one, from their GPUs (each an
// equal part of it) or from the memory of their host.
enum class Client { rank, node, host };

struct Communicator {
  std::string name;
  std::vector<std::vector<int>> groups;  // disjoint; each lists its ranks in ring order
  Pattern pattern = Pattern::ring;
  // Servers: the nodes they stand on, each with an equal part of the bytes; none = the nodes of each group's ranks.
  std::vector<int> server_nodes = {};
  Client client = Client::rank;
};

struct Placement {
  std::vector<int> class_of_rank;       // index into the programs; its size is the number of ranks
  std::vector<double> stretch_of_rank;  // compute time multiplier per rank (stragglers, jitter); empty = 1
  std::vector<Communicator> communicators;

  [[nodiscard]] int ranks() const { return static_cast<int>(class_of_rank.size()); }
};

}  // namespace foretrain::sim
