#include "sim/breakdown.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "sim/mixture.h"

namespace foretrain::sim {
namespace {

// What a rank may be doing; of several at once the first counts. What stands for many comes first: kernels of several
// kinds are in it.
// clang-format off
enum class Doing {
  mixed, forward, backward, recompute, optimizer, compression, other, communicating, waiting, input, launching
};
// clang-format on
constexpr std::size_t doings = static_cast<std::size_t>(Doing::launching) + 1;

struct Interval {
  Doing doing = Doing::other;
  ActivityIndex activity = 0;
  double start = 0;
  double finish = 0;
};

Doing kernel(const Activity& activity) {
  if (activity.mixture != no_mixture) return Doing::mixed;
  switch (activity.category) {
    case Category::forward: return Doing::forward;
    case Category::backward: return Doing::backward;
    case Category::recompute: return Doing::recompute;
    case Category::optimizer: return Doing::optimizer;
    case Category::compression: return Doing::compression;
    case Category::communication:
    case Category::launch:
    case Category::input:
    case Category::other: break;
  }
  return Doing::other;
}

Doing timed(const Program& program, const Activity& activity) {
  switch (program.streams[activity.stream].kind) {
    case StreamKind::compute:
    case StreamKind::communication: return kernel(activity);
    case StreamKind::input: return Doing::input;
    case StreamKind::host: return activity.category == Category::input ? Doing::input : Doing::launching;
  }
  return Doing::other;
}

std::vector<Interval> intervals(const Program& program, const Timeline& timeline, std::uint32_t instance) {
  std::vector<Interval> result;
  for (ActivityIndex a = 0; a < program.activities.size(); ++a) {
    const Activity& activity = program.activities[a];
    const auto add = [&](Doing doing, double start, double finish) {
      if (finish > start) result.push_back({doing, a, start, finish});
    };
    const SpanIndex s = timeline.first_of[instance] + a;
    const Span& span = timeline.spans[s];
    if (!activity.is_collective) {
      add(timed(program, activity), span.start, span.finish);
    } else if (timeline.collective_of[s] != no_span) {
      const CollectiveSpan& run = timeline.collectives[timeline.collective_of[s]];
      // A receiver that waits for its sender is a pipeline's bubble, not a straggler's fault.
      if (activity.collective != calibrate::CollectiveKind::send_receive) {
        add(Doing::waiting, span.start, run.all_arrived);
      }
      add(Doing::communicating, run.all_arrived, run.finish);
    }
  }
  return result;
}

std::string exposed(calibrate::CollectiveKind kind) { return std::string("exposed_") + calibrate::to_string(kind); }

// The step of one rank, from its start on, given out to the parts.
class Account {
 public:
  Account(const Program& program, double stretch) : program_(program), stretch_(stretch) {}

  void begin(Doing doing, ActivityIndex activity) { of(doing).insert(rank_of(doing, activity)); }
  void end(Doing doing, ActivityIndex activity) { of(doing).erase(of(doing).find(rank_of(doing, activity))); }
  // What goes on does so until then.
  void advance(double to) {
    if (to > since_) add(to - since_);
    since_ = std::max(since_, to);
  }
  [[nodiscard]] std::map<std::string, double> parts() && { return std::move(parts_); }

 private:
  // Of several of one sort the first kind of collective counts, then the first activity.
  using Rank = std::pair<calibrate::CollectiveKind, ActivityIndex>;
  [[nodiscard]] Rank rank_of(Doing doing, ActivityIndex activity) const {
    return {doing == Doing::communicating ? program_.activities[activity].collective : calibrate::CollectiveKind{},
            activity};
  }
  [[nodiscard]] std::set<Rank>& of(Doing doing) { return now_[static_cast<std::size_t>(doing)]; }

  void add(double seconds) {
    const auto first = std::find_if(now_.begin(), now_.end(), [](const auto& going) { return !going.empty(); });
    if (first == now_.end()) {
      parts_["pipeline_bubble"] += seconds;
      return;
    }
    switch (static_cast<Doing>(first - now_.begin())) {
      case Doing::mixed:
      case Doing::forward:
      case Doing::backward:
      case Doing::recompute:
      case Doing::optimizer:
      case Doing::compression:
      case Doing::other: return add_work(program_.activities[first->begin()->second], seconds);
      case Doing::communicating: parts_[exposed(first->begin()->first)] += seconds; return;
      case Doing::waiting: parts_["straggler_wait"] += seconds; return;
      case Doing::input: parts_["input_stall"] += seconds; return;
      case Doing::launching: parts_["launch"] += seconds; return;
    }
  }

  void add_work(const Activity& activity, double seconds) {
    const bool compute = program_.streams[activity.stream].kind == StreamKind::compute;
    for (const Part& part : parts_of(program_, activity, stretch_, seconds)) {
      const bool stretched = compute && stretch_ > 1.0 && part.category != Category::communication;
      const double own = stretched ? part.seconds / stretch_ : part.seconds;
      parts_[breakdown_name(part)] += own;
      if (stretched) parts_["straggler_wait"] += part.seconds - own;
    }
  }

  const Program& program_;
  double stretch_;
  std::map<std::string, double> parts_;
  std::array<std::set<Rank>, doings> now_;
  double since_ = 0;
};

}  // namespace

std::string breakdown_name(const Part& part) {
  switch (part.category) {
    case Category::communication: return exposed(part.collective);
    case Category::input: return "input_stall";
    case Category::forward:
    case Category::backward:
    case Category::recompute:
    case Category::optimizer:
    case Category::compression:
    case Category::launch:
    case Category::other: break;
  }
  return to_string(part.category);
}

std::map<std::string, double> breakdown(const Job& job, const Timeline& timeline, std::uint32_t instance) {
  struct Edge {
    double at = 0;
    bool begins = false;
    Doing doing = Doing::other;
    ActivityIndex activity = 0;
  };
  const RankInstance& rank = job.instances[instance];
  const Program& program = job.programs[rank.program];
  std::vector<Edge> edges;
  for (const Interval& interval : intervals(program, timeline, instance)) {
    edges.push_back({interval.start, true, interval.doing, interval.activity});
    edges.push_back({interval.finish, false, interval.doing, interval.activity});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  Account account(program, rank.stretch);
  for (const Edge& edge : edges) {
    account.advance(edge.at);
    edge.begins ? account.begin(edge.doing, edge.activity) : account.end(edge.doing, edge.activity);
  }
  const double finish = edges.empty() ? 0.0 : edges.back().at;
  std::map<std::string, double> parts = std::move(account).parts();
  // Idle until all begin again; negative where a step of this rank began after the replay, which idling came before.
  const double idle = timeline.step_seconds - finish;
  if (idle != 0) parts["pipeline_bubble"] += idle;
  return parts;
}

}  // namespace foretrain::sim
