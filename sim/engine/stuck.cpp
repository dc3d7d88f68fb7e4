#include "sim/engine/stuck.h"

#include <algorithm>
#include <cassert>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::sim::engine {
namespace {

constexpr std::size_t most_lines = 4;

std::string rank_name(const Job& job, std::uint32_t instance) {
  const RankInstance& rank = job.instances[instance];
  return fmt::format("rank {} ({})", rank.rank, printable(job.programs[rank.program].rank_class));
}

std::string label(const Job& job, ActivityOfRank which) {
  const Program& program = job.programs[job.instances[which.instance].program];
  return quoted(program.labels[program.activities[which.activity].label]);
}

bool incomplete(const Job& job, const CollectiveRun& run) {
  return run.arrived.size() < job.groups[run.group].members.size();
}

bool has_arrived(const CollectiveRun& run, std::uint32_t instance) {
  return std::any_of(run.arrived.begin(), run.arrived.end(),
                     [instance](ActivityOfRank member) { return member.instance == instance; });
}

std::string what_it_does(const Job& job, const std::vector<CollectiveRun>& runs, std::uint32_t instance) {
  for (const CollectiveRun& run : runs) {
    if (!incomplete(job, run)) continue;
    for (const ActivityOfRank member : run.arrived) {
      if (member.instance == instance) return "which waits in " + label(job, member);
    }
  }
  return "which ends without it";
}

std::string describe(const Job& job, const std::vector<CollectiveRun>& runs, const CollectiveRun& run) {
  const Group& group = job.groups[run.group];
  const auto missing = std::find_if(group.members.begin(), group.members.end(),
                                    [&](std::uint32_t member) { return !has_arrived(run, member); });
  const std::size_t others = group.members.size() - run.arrived.size() - 1;
  return fmt::format("{} (call {} on {}): {} waits for {}, {}{}", label(job, run.arrived.front()), run.call + 1,
                     quoted(group.communicator), rank_name(job, run.arrived.front().instance), rank_name(job, *missing),
                     what_it_does(job, runs, *missing), others > 0 ? fmt::format(", and for {} more", others) : "");
}

}  // namespace

Error stuck_error(const Job& job, const std::vector<CollectiveRun>& runs) {
  std::string text = "the step never ends: ranks wait for each other in collectives";
  std::size_t found = 0;
  for (const CollectiveRun& run : runs) {
    if (incomplete(job, run) && ++found <= most_lines) text += "\n  " + describe(job, runs, run);
  }
  assert(found > 0);
  if (found > most_lines) text += fmt::format("\n  and {} more", found - most_lines);
  return Error(text, {}, "all members of a group must reach the same collectives, in the same order", ExitCode::failed);
}

}  // namespace foretrain::sim::engine
