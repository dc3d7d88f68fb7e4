// Traffic: what the collectives of a replay put on links, as a trace shows it.
#pragma once

namespace foretrain::sim {

// Of one collective (an index into Timeline::collectives), while its data moves.
struct Traffic {
  double rank_bytes = 0;  // from each rank to its successor inside the node
  double node_bytes = 0;  // from each node through the network cards of the group's members
};

}  // namespace foretrain::sim
