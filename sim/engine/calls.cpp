#include "sim/engine/calls.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/mixture.h"

namespace foretrain::sim::engine {
namespace {

// Plans each (shape, kind, bytes) once.
class Plans {
 public:
  Plans(const CollectivePlanner& planner, std::vector<CollectivePlan>& plans) : planner_(planner), plans_(plans) {}

  std::uint32_t shape(const GroupShape& shape) {
    const auto known = std::find(shapes_.begin(), shapes_.end(), shape);
    if (known != shapes_.end()) return static_cast<std::uint32_t>(known - shapes_.begin());
    shapes_.push_back(shape);
    return static_cast<std::uint32_t>(shapes_.size() - 1);
  }

  std::uint32_t plan(std::uint32_t shape, calibrate::CollectiveKind kind, Bytes bytes) {
    const auto [known, fresh] = index_.try_emplace({shape, kind, bytes.value}, plans_.size());
    if (fresh) plans_.push_back(planner_.plan(kind, bytes, shapes_[shape]));
    return known->second;
  }

 private:
  const CollectivePlanner& planner_;
  std::vector<CollectivePlan>& plans_;
  std::vector<GroupShape> shapes_;
  std::map<std::tuple<std::uint32_t, calibrate::CollectiveKind, double>, std::uint32_t> index_;
};

std::string rank_name(const RankInstance& rank, const Program& program) {
  return fmt::format("rank {} ({})", rank.rank, printable(program.rank_class));
}

Error no_group_error(const RankInstance& rank, const Program& program, const Activity& activity) {
  return Error(
      fmt::format("{} calls {} on the communicator {}, in which it has no group", rank_name(rank, program),
                  quoted(program.labels[activity.label]), quoted(program.communicators[activity.communicator])),
      {}, "every communicator of a program needs a group of each of its ranks in the placement", ExitCode::failed);
}

Error mismatch_error(const RankInstance& rank, const Program& program, const Activity& activity, std::size_t ordinal,
                     const Call& expected) {
  return Error(fmt::format("{} makes call {} on the communicator {} as {} of {:.0f} bytes ({}), another member of its "
                           "group as {} of {:.0f} bytes",
                           rank_name(rank, program), ordinal + 1, quoted(program.communicators[activity.communicator]),
                           to_string(activity.collective), activity.bytes.value, quoted(program.labels[activity.label]),
                           to_string(expected.kind), expected.bytes.value),
               {}, "all members of a group make the same calls in the same order", ExitCode::failed);
}

double compute_seconds(const Program& program, const RankInstance& rank, const ActivityTimes& times) {
  assert(rank.stretch > 0 && program.compute_rate_while_communicating > 0);
  double total = 0;
  for (const Activity& activity : program.activities) {
    if (activity.is_collective) continue;
    const double seconds = times.seconds(rank.program, activity, std::max(1.0, rank.stretch));
    const bool compute = program.streams[activity.stream].kind == StreamKind::compute;
    total += compute ? seconds / program.compute_rate_while_communicating : seconds;
  }
  return total;
}

// Seconds that one byte of rank_bytes and of node_bytes keeps the links of the group busy, added up.
struct LinkWork {
  double per_rank_byte = 0;
  double per_node_byte = 0;
};

LinkWork link_work(const Job& job, const Group& group, const Draw* draw) {
  LinkWork work;
  for (const FlowTemplate& flow : group.flows) {
    double seconds = 0;
    for (const LinkUse& use : flow.route) {
      const Link& link = job.links[use.link];
      seconds += flow.share * use.weight / link.capacity.value * time_multiplier(draw, link.parameter);
    }
    (flow.between_nodes ? work.per_node_byte : work.per_rank_byte) += seconds;
  }
  return work;
}

}  // namespace

Calls collect_calls(const Job& job, const std::vector<ProgramGraph>& graphs, const CollectivePlanner& planner) {
  Calls calls;
  calls.of_group.resize(job.groups.size());
  Plans plans(planner, calls.plans);
  std::vector<std::uint32_t> shape_of_group;
  for (const Group& group : job.groups) shape_of_group.push_back(plans.shape(group.shape));

  for (const RankInstance& rank : job.instances) {
    const Program& program = job.programs[rank.program];
    const ProgramGraph& graph = graphs[rank.program];
    for (const ActivityIndex a : graph.collectives) {
      const Activity& activity = program.activities[a];
      const std::uint32_t group = rank.group_of_communicator[activity.communicator];
      if (group == no_group) throw no_group_error(rank, program, activity);
      std::vector<Call>& of_group = calls.of_group[group];
      const std::uint32_t ordinal = graph.call[a];
      if (ordinal == of_group.size()) {
        const std::uint32_t plan = plans.plan(shape_of_group[group], activity.collective, activity.bytes);
        of_group.push_back({activity.collective, activity.bytes, plan});
      } else if (of_group[ordinal].kind != activity.collective || of_group[ordinal].bytes != activity.bytes) {
        throw mismatch_error(rank, program, activity, ordinal, of_group[ordinal]);
      }
    }
  }
  return calls;
}

Bytes flow_bytes(const FlowTemplate& flow, const CollectivePlan& plan, calibrate::CollectiveKind kind) {
  if (flow.only_for && *flow.only_for != kind) return Bytes(0);
  return (flow.between_nodes ? plan.node_bytes : plan.rank_bytes) * flow.share;
}

Seconds longest_step(const Job& job, const Calls& calls, const Draw* draw) {
  double total = 0;
  const ActivityTimes times(job.programs, draw);
  for (const RankInstance& rank : job.instances) total += compute_seconds(job.programs[rank.program], rank, times);
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    if (calls.of_group[g].empty()) continue;
    const LinkWork work = link_work(job, job.groups[g], draw);
    for (const Call& call : calls.of_group[g]) {
      const CollectivePlan& plan = calls.plans[call.plan];
      total += plan.alpha.time.value * time_multiplier(draw, plan.alpha.parameter) +
               plan.alone.time.value * time_multiplier(draw, plan.alone.parameter) +
               plan.rank_bytes.value * work.per_rank_byte + plan.node_bytes.value * work.per_node_byte;
    }
  }
  if (!std::isfinite(total)) {
    throw Error("the step takes longer than can be counted in seconds", {}, "some rate is far too small",
                ExitCode::failed);
  }
  return Seconds(total);
}

}  // namespace foretrain::sim::engine
