// Placement: which ranks there are, of which class, and who talks to whom.
#pragma once

#include <string>
#include <vector>

namespace foretrain::sim {

struct Communicator {
  std::string name;
  std::vector<std::vector<int>> groups;  // disjoint; each lists its ranks in ring order
};

struct Placement {
  std::vector<int> class_of_rank;       // index into the programs; its size is the number of ranks
  std::vector<double> stretch_of_rank;  // compute time multiplier per rank (stragglers, jitter); empty = 1
  std::vector<Communicator> communicators;

  [[nodiscard]] int ranks() const { return static_cast<int>(class_of_rank.size()); }
};

}  // namespace foretrain::sim
