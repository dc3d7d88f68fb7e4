#include "sim/breakdown.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace foretrain::sim {
namespace {

// What a rank may be doing; of several at once the first counts.
enum class Doing { forward, backward, recompute, optimizer, compression, other, communicating, waiting, input, launching };
constexpr std::size_t doings = static_cast<std::size_t>(Doing::launching) + 1;

struct Interval {
  Doing doing = Doing::other;
  calibrate::CollectiveKind kind = calibrate::CollectiveKind::all_reduce;  // while communicating
  double start = 0;
  double finish = 0;
};

Doing kernel(Category category) {
  switch (category) {
    case Category::forward: return Doing::forward;
    case Category::backward: return Doing::backward;
    case Category::recompute: return Doing::recompute;
    case Category::optimizer: return Doing::optimizer;
    case Category::compression: return Doing::compression;
    case Category::communication:
    case Category::launch:
    case Category::input:
    case Category::other: return Doing::other;
  }
  return Doing::other;
}

Doing timed(const Program& program, const Activity& activity) {
  switch (program.streams[activity.stream].kind) {
    case StreamKind::compute: return kernel(activity.category);
    case StreamKind::input: return Doing::input;
    case StreamKind::host: return activity.category == Category::input ? Doing::input : Doing::launching;
    case StreamKind::communication: return kernel(activity.category);
  }
  return Doing::other;
}

std::vector<Interval> intervals(const Job& job, const Timeline& timeline, std::uint32_t instance) {
  const Program& program = job.programs[job.instances[instance].program];
  std::vector<Interval> result;
  const auto add = [&](Doing doing, calibrate::CollectiveKind kind, double start, double finish) {
    if (finish > start) result.push_back({doing, kind, start, finish});
  };
  for (std::size_t a = 0; a < program.activities.size(); ++a) {
    const Activity& activity = program.activities[a];
    const SpanIndex s = timeline.first_of[instance] + static_cast<SpanIndex>(a);
    const Span& span = timeline.spans[s];
    if (!activity.is_collective) {
      add(timed(program, activity), activity.collective, span.start, span.finish);
    } else if (timeline.collective_of[s] != no_span) {
      const CollectiveSpan& run = timeline.collectives[timeline.collective_of[s]];
      // A receiver that waits for its sender is a pipeline's bubble, not a straggler's fault.
      if (activity.collective != calibrate::CollectiveKind::send_receive) {
        add(Doing::waiting, activity.collective, span.start, run.all_arrived);
      }
      add(Doing::communicating, activity.collective, run.all_arrived, run.finish);
    }
  }
  return result;
}

// Adds `seconds` during which `now` went on to the parts.
void account(std::map<std::string, double>& parts,
             const std::array<std::multiset<calibrate::CollectiveKind>, doings>& now, double seconds, double stretch) {
  const auto first = std::find_if(now.begin(), now.end(), [](const auto& going) { return !going.empty(); });
  if (first == now.end()) {
    parts["pipeline_bubble"] += seconds;
    return;
  }
  switch (static_cast<Doing>(first - now.begin())) {
    case Doing::forward:
    case Doing::backward:
    case Doing::recompute:
    case Doing::optimizer:
    case Doing::compression:
    case Doing::other: {
      constexpr std::array<const char*, 6> names = {"forward", "backward", "recompute", "optimizer", "compression", "other"};
      const double own = stretch > 1.0 ? seconds / stretch : seconds;
      parts[names[static_cast<std::size_t>(first - now.begin())]] += own;
      if (stretch > 1.0) parts["straggler_wait"] += seconds - own;
      return;
    }
    case Doing::communicating:
      parts[std::string("exposed_") + calibrate::to_string(*first->begin())] += seconds;
      return;
    case Doing::waiting: parts["straggler_wait"] += seconds; return;
    case Doing::input: parts["input_stall"] += seconds; return;
    case Doing::launching: parts["launch"] += seconds; return;
  }
}

}  // namespace

std::map<std::string, double> breakdown(const Job& job, const Timeline& timeline, std::uint32_t instance) {
  struct Edge {
    double at = 0;
    bool begins = false;
    Doing doing = Doing::other;
    calibrate::CollectiveKind kind = calibrate::CollectiveKind::all_reduce;
  };
  std::vector<Edge> edges;
  for (const Interval& interval : intervals(job, timeline, instance)) {
    edges.push_back({interval.start, true, interval.doing, interval.kind});
    edges.push_back({interval.finish, false, interval.doing, interval.kind});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });

  std::map<std::string, double> parts;
  std::array<std::multiset<calibrate::CollectiveKind>, doings> now;
  double since = 0;
  const auto advance = [&](double to) {
    if (to > since) account(parts, now, to - since, job.instances[instance].stretch);
    since = std::max(since, to);
  };
  for (const Edge& edge : edges) {
    advance(edge.at);
    auto& going = now[static_cast<std::size_t>(edge.doing)];
    if (edge.begins) {
      going.insert(edge.kind);
    } else {
      going.erase(going.find(edge.kind));
    }
  }
  advance(timeline.step_seconds);
  return parts;
}

}  // namespace foretrain::sim
