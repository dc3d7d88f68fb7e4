// Job: what the engine replays: rank instances with programs, groups with flows, links.
//
// Two functions make one: fold() keeps one representative per class of equal ranks, expand() keeps every
// rank. Both read the same programs and placement, and their replays agree to 1e-9.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/group_flows.h"
#include "sim/placement.h"
#include "sim/program.h"
#include "sim/topology.h"

namespace foretrain::sim {

// A communicator of a rank's program in which the placement gives the rank no group.
inline constexpr std::uint32_t no_group = 0xffffffffu;

struct RankInstance {
  std::uint32_t program = 0;
  int rank = 0;                                      // the (first) rank it stands for
  int represents = 1;                                // how many ranks it stands for
  double stretch = 1.0;                              // compute time multiplier
  std::vector<std::uint32_t> group_of_communicator;  // by Program::communicators; index into Job::groups or no_group
};

struct Group {
  std::string communicator;
  GroupShape shape;
  std::vector<std::uint32_t> members;  // rank instances
  std::vector<FlowTemplate> flows;
};

struct Job {
  std::vector<Program> programs;
  std::vector<RankInstance> instances;
  std::vector<Group> groups;
  std::vector<Link> links;
  std::vector<std::string> link_kinds;
  // Stages that are through with a step begin the next one while others still finish it (Composed::steps_overlap).
  bool steps_overlap = false;
  bool folded = false;
  int ranks = 0;  // that the job stands for
};

}  // namespace foretrain::sim
