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

bool incomplete(const Job& job, const CollectiveRun& run) { return run.arrived < job.groups[run.group].members.size(); }

class Stuck {
 public:
  Stuck(const Job& job, const std::vector<CollectiveRun>& runs, const std::vector<ActivityOfRank>& arrivals)
      : job_(job), runs_(runs), arrivals_(arrivals) {}

  [[nodiscard]] std::string describe(const CollectiveRun& run) const {
    const Group& group = job_.groups[run.group];
    const auto missing = std::find_if(group.members.begin(), group.members.end(),
                                      [&](std::uint32_t member) { return arrival(run, member) == nullptr; });
    const std::size_t others = group.members.size() - run.arrived - 1;
    const ActivityOfRank first = arrivals_[run.first_arrival];
    return fmt::format("{} (call {} on {}): {} waits for {}, {}{}", label(job_, first), run.call + 1,
                       quoted(group.communicator), rank_name(job_, first.instance), rank_name(job_, *missing),
                       what_it_does(*missing), others > 0 ? fmt::format(", and for {} more", others) : "");
  }

 private:
  // Null = this instance has not come.
  [[nodiscard]] const ActivityOfRank* arrival(const CollectiveRun& run, std::uint32_t instance) const {
    const ActivityOfRank* first = arrivals_.data() + run.first_arrival;
    const ActivityOfRank* end = first + run.arrived;
    const ActivityOfRank* found = std::find_if(first, end, [&](ActivityOfRank it) { return it.instance == instance; });
    return found == end ? nullptr : found;
  }

  [[nodiscard]] std::string what_it_does(std::uint32_t instance) const {
    for (const CollectiveRun& run : runs_) {
      if (!incomplete(job_, run)) continue;
      if (const ActivityOfRank* waits = arrival(run, instance)) return "which waits in " + label(job_, *waits);
    }
    return "which ends without it";
  }

  const Job& job_;
  const std::vector<CollectiveRun>& runs_;
  const std::vector<ActivityOfRank>& arrivals_;
};

}  // namespace

Error stuck_error(const Job& job, const std::vector<CollectiveRun>& runs, const std::vector<ActivityOfRank>& arrivals) {
  const Stuck stuck(job, runs, arrivals);
  std::string text = "the step never ends: ranks wait for each other in collectives";
  std::size_t found = 0;
  for (const CollectiveRun& run : runs) {
    if (incomplete(job, run) && ++found <= most_lines) text += "\n  " + stuck.describe(run);
  }
  assert(found > 0);
  if (found > most_lines) text += fmt::format("\n  and {} more", found - most_lines);
  return Error(text, {}, "all members of a group must reach the same collectives, in the same order", ExitCode::failed);
}

}  // namespace foretrain::sim::engine
