#include <algorithm>
#include <cassert>
#include <map>
#include <string>

#include "sim/fold.h"
#include "sim/server_flows.h"

namespace foretrain::sim {
namespace {

// Groups of the communicators that some program names; group_of[c] by rank.
struct Membership {
  std::map<std::string, std::vector<std::uint32_t>> group_of;
};

bool is_used(const std::string& communicator, const std::vector<Program>& programs) {
  return std::any_of(programs.begin(), programs.end(), [&](const Program& program) {
    return std::find(program.communicators.begin(), program.communicators.end(), communicator) !=
           program.communicators.end();
  });
}

// On every communicator of that name.
[[maybe_unused]] bool is_for_sending_only(const std::string& communicator, const std::vector<Program>& programs) {
  return std::all_of(programs.begin(), programs.end(), [&](const Program& program) {
    return std::all_of(program.activities.begin(), program.activities.end(), [&](const Activity& activity) {
      return !activity.is_collective || program.communicators[activity.communicator] != communicator ||
             activity.collective == calibrate::CollectiveKind::send_receive;
    });
  });
}

Group make_group(const std::vector<int>& ranks, const Communicator& communicator, const Topology& topology) {
  Group group;
  group.communicator = communicator.name;
  if (communicator.pattern == Pattern::servers) {
    group.flows = server_flows(ranks, communicator, topology);
    group.shape = server_shape(ranks, communicator, topology, group.flows);
  } else if (communicator.pattern == Pattern::pair) {
    assert(ranks.size() == 2);
    group.flows = pair_flows(ranks[0], ranks[1], topology);
    group.shape = pair_shape(ranks[0], ranks[1], topology);
  } else {
    group.flows = group_flows(ranks, topology);
    group.shape = shape_of(ranks, topology);
  }
  return group;
}

Membership add_groups(const Placement& placement, const Topology& topology, Job& job) {
  Membership membership;
  for (const Communicator& communicator : placement.communicators) {
    if (!is_used(communicator.name, job.programs)) continue;
    assert(communicator.pattern != Pattern::pair || is_for_sending_only(communicator.name, job.programs));
    std::vector<std::uint32_t>& group_of = membership.group_of[communicator.name];
    group_of.assign(placement.class_of_rank.size(), no_group);
    for (const std::vector<int>& ranks : communicator.groups) {
      Group group = make_group(ranks, communicator, topology);
      for (const int rank : ranks) {
        assert(rank >= 0 && rank < placement.ranks() && group_of[static_cast<std::size_t>(rank)] == no_group);
        group_of[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(job.groups.size());
        group.members.push_back(static_cast<std::uint32_t>(rank));
      }
      job.groups.push_back(std::move(group));
    }
  }
  return membership;
}

}  // namespace

Job expand(std::vector<Program> programs, const Placement& placement, const Topology& topology) {
  assert(placement.stretch_of_rank.empty() || placement.stretch_of_rank.size() == placement.class_of_rank.size());
  Job job;
  job.programs = std::move(programs);
  job.links = topology.links();
  job.link_kinds = topology.link_kinds();
  job.ranks = placement.ranks();
  const Membership membership = add_groups(placement, topology, job);
  job.instances.resize(placement.class_of_rank.size());
  for (std::size_t rank = 0; rank < job.instances.size(); ++rank) {
    RankInstance& instance = job.instances[rank];
    instance.program = static_cast<std::uint32_t>(placement.class_of_rank[rank]);
    instance.rank = static_cast<int>(rank);
    if (!placement.stretch_of_rank.empty()) instance.stretch = placement.stretch_of_rank[rank];
    for (const std::string& communicator : job.programs[instance.program].communicators) {
      const auto found = membership.group_of.find(communicator);
      instance.group_of_communicator.push_back(found == membership.group_of.end() ? no_group : found->second[rank]);
    }
  }
  return job;
}

Job fold(std::vector<Program> programs, const Placement& placement, const Topology& topology) {
  return fold(expand(std::move(programs), placement, topology));
}

}  // namespace foretrain::sim
