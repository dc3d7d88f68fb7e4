#include "sim/engine/executor.h"

#include <algorithm>
#include <cassert>

#include "sim/engine/stuck.h"

namespace foretrain::sim::engine {
namespace {

// Timers belong to activities or to collectives, flows to collectives.
constexpr Token collective_timer = Token{1} << 63;

Token token_of(ActivityOfRank which) { return (Token{which.instance} << 32) | which.activity; }
ActivityOfRank activity_of(Token token) {
  return {static_cast<std::uint32_t>(token >> 32), static_cast<ActivityIndex>(token)};
}

}  // namespace

Executor::Executor(const Job& job, const std::vector<ProgramGraph>& graphs, const Calls& calls,
                   const ReplayOptions& options)
    : job_(job),
      graphs_(graphs),
      calls_(calls),
      draw_(options.draw),
      times_(job.programs, options.draw),
      fidelity_(options.fidelity),
      simulation_(*this, longest_step(job, calls, options.draw), options.lone_flows),
      network_(job, options.draw, simulation_),
      ranks_(job.instances.size()) {
  std::uint32_t spans = 0;
  for (const RankInstance& rank : job.instances) {
    timeline_.first_of.push_back(spans);
    const std::vector<std::uint32_t>& waits = graphs[rank.program].waits;
    waits_.insert(waits_.end(), waits.begin(), waits.end());
    spans += static_cast<std::uint32_t>(waits.size());
  }
  timeline_.spans.resize(spans);
  timeline_.collective_of.assign(spans, no_span);
  std::size_t calls_in_all = 0, arrivals = 0;
  for (std::size_t group = 0; group < job.groups.size(); ++group) {
    first_call_.push_back({calls_in_all, arrivals});
    calls_in_all += calls.of_group[group].size();
    arrivals += calls.of_group[group].size() * job.groups[group].members.size();
  }
  run_of_call_.assign(calls_in_all, no_span);
  runs_.reserve(calls_in_all);
  timeline_.collectives.reserve(calls_in_all);
  arrivals_.resize(arrivals);
}

Timeline Executor::run() {
  for (std::uint32_t i = 0; i < job_.instances.size(); ++i) {
    const std::vector<std::uint32_t>& waits = graphs_[job_.instances[i].program].waits;
    for (ActivityIndex a = 0; a < waits.size(); ++a) {
      if (waits[a] == 0) start({i, a}, no_span);
    }
  }
  release_waiting();
  simulation_.run();
  if (finished_count_ < timeline_.spans.size()) throw stuck_error(job_, runs_, arrivals_);
  timeline_.longest = longest_step(job_, timeline_);
  timeline_.step_seconds = timeline_.longest.finish - timeline_.longest.begin;
  timeline_.peak_bytes = memory_peaks(job_, timeline_);
  timeline_.events = simulation_.events();
  return std::move(timeline_);
}

// --- activities ---------------------------------------------------------------------------------

void Executor::on_timer(Token token, double at) {
  now_ = std::max(now_, at);
  if (token & collective_timer) {
    const auto run = static_cast<std::uint32_t>(token);
    if (fidelity_ == Fidelity::analytic) {
      end_collective(run);
    } else {
      end_step(run);
    }
  } else {
    end_timed(activity_of(token));
  }
  release_waiting();
}

void Executor::start(ActivityOfRank which, SpanIndex released_by) {
  Span& s = span(which);
  s.start = now_;
  s.released_by = released_by;
  const Activity& activity = program(which.instance).activities[which.activity];
  if (!activity.is_collective) return start_timed(which, activity);
  const std::uint32_t group = job_.instances[which.instance].group_of_communicator[activity.communicator];
  const GroupShape& shape = job_.groups[group].shape;
  if (shape.ranks <= 1 && !shape.servers) return finish(which);
  arrive(which, group);
}

void Executor::start_timed(ActivityOfRank which, const Activity& activity) {
  const RankInstance& rank = job_.instances[which.instance];
  const Program& of = job_.programs[rank.program];
  const double seconds = times_.seconds(rank.program, activity, rank.stretch);
  if (seconds <= 0) return finish(which);
  const bool compute = of.streams[activity.stream].kind == StreamKind::compute;
  if (compute && of.compute_rate_while_communicating != 1.0) return start_kernel(which, seconds);
  simulation_.set_timer(now_ + seconds, token_of(which));
}

void Executor::start_kernel(ActivityOfRank which, double seconds) {
  const EventHandle timer = simulation_.set_timer(now_ + seconds / rate(which.instance), token_of(which));
  ranks_[which.instance].kernels.push_back({which.activity, seconds, now_, timer});
}

void Executor::end_timed(ActivityOfRank which) {
  std::vector<Kernel>& kernels = ranks_[which.instance].kernels;
  const auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.activity == which.activity; });
  if (kernel != kernels.end()) kernels.erase(kernel);
  finish(which);
}

void Executor::finish(ActivityOfRank which) {
  span(which).finish = now_;
  ++finished_count_;
  finished_.push_back(which);
}

// A queue and not a recursion: activities may take no time, and chains of them are long.
void Executor::release_waiting() {
  for (std::size_t next = 0; next < finished_.size(); ++next) {
    const ActivityOfRank done = finished_[next];
    const ProgramGraph& graph = graphs_[job_.instances[done.instance].program];
    const SpanIndex first = timeline_.first_of[done.instance];
    for (std::uint32_t d = graph.first_dependent[done.activity]; d < graph.first_dependent[done.activity + 1]; ++d) {
      const ActivityIndex dependent = graph.dependents[d];
      if (--waits_[first + dependent] == 0) start({done.instance, dependent}, first + done.activity);
    }
  }
  finished_.clear();
}

double Executor::rate(std::uint32_t instance) const {
  return ranks_[instance].communicating > 0 ? program(instance).compute_rate_while_communicating : 1.0;
}

void Executor::set_communicating(std::uint32_t instance, int change) {
  RankState& rank = ranks_[instance];
  const double before = rate(instance);
  rank.communicating += change;
  const double after = rate(instance);
  if (before == after) return;
  for (Kernel& kernel : rank.kernels) {
    simulation_.cancel(kernel.timer);
    kernel.remaining = std::max(0.0, kernel.remaining - (now_ - kernel.since) * before);
    kernel.since = now_;
    kernel.timer = simulation_.set_timer(now_ + kernel.remaining / after, token_of({instance, kernel.activity}));
  }
}

// --- collectives --------------------------------------------------------------------------------

const CollectivePlan& Executor::plan(std::uint32_t run) const { return calls_.plan(runs_[run].group, runs_[run].call); }

calibrate::CollectiveKind Executor::kind(std::uint32_t run) const {
  return calls_.of_group[runs_[run].group][runs_[run].call].kind;
}

void Executor::arrive(ActivityOfRank which, std::uint32_t group) {
  const std::uint32_t call = graphs_[job_.instances[which.instance].program].call[which.activity];
  const std::size_t members = job_.groups[group].members.size();
  std::uint32_t& run_of_call = run_of_call_[first_call_[group].call + call];
  if (run_of_call == no_span) {
    run_of_call = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
    runs_.back().group = group;
    runs_.back().call = call;
    runs_.back().first_arrival = first_call_[group].arrival + call * members;
    timeline_.collectives.emplace_back();
    timeline_.collectives.back().group = group;
  }
  const std::uint32_t run = run_of_call;
  timeline_.collective_of[timeline_.first_of[which.instance] + which.activity] = run;
  arrivals_[runs_[run].first_arrival + runs_[run].arrived++] = which;
  if (runs_[run].arrived == members) start_collective(run);
}

void Executor::start_collective(std::uint32_t run) {
  CollectiveSpan& collective = timeline_.collectives[run];
  const CollectivePlan& planned = plan(run);
  const std::size_t first = runs_[run].first_arrival, end = first + runs_[run].arrived;
  const SpanIndex released_by = span(arrivals_[end - 1]).released_by;
  for (std::size_t arrival = first; arrival < end; ++arrival) {
    const ActivityOfRank member = arrivals_[arrival];
    span(member).released_by = released_by;
    if (!calibrate::is_with_servers(kind(run))) set_communicating(member.instance, +1);
  }
  collective.all_arrived = now_;
  if (fidelity_ == Fidelity::analytic) {
    collective.alpha_end = now_;
    collective.alpha_parameter = collective.bandwidth_parameter = planned.alone.parameter;
    const double seconds = planned.alone.time.value * time_multiplier(draw_, planned.alone.parameter);
    simulation_.set_timer(now_ + seconds, collective_timer | run);
    return;
  }
  collective.alpha_parameter = collective.bandwidth_parameter = planned.alpha.parameter;
  collective.alpha_end = now_ + planned.alpha.time.value * time_multiplier(draw_, planned.alpha.parameter);
  runs_[run].steps_left = fidelity_ == Fidelity::steps ? planned.steps : 1;
  start_step(run);
}

// Latency, then flows; or latency alone.
void Executor::start_step(std::uint32_t run) {
  const CollectivePlan& planned = plan(run);
  const int steps = fidelity_ == Fidelity::steps ? planned.steps : 1;
  const double latency = planned.alpha.time.value * time_multiplier(draw_, planned.alpha.parameter) / steps;
  const std::uint32_t group = runs_[run].group;
  const std::vector<FlowTemplate>& flows = job_.groups[group].flows;
  for (std::uint32_t f = 0; f < flows.size(); ++f) {
    const Bytes bytes = flow_bytes(flows[f], planned, kind(run)) / steps;
    if (bytes.value <= 0 || flows[f].route.empty()) continue;
    ++runs_[run].flows_left;
    network_.start(now_ + latency, group, f, bytes, (Token{run} << 32) | f);
  }
  if (runs_[run].flows_left == 0) simulation_.set_timer(now_ + latency, collective_timer | run);
}

void Executor::on_flow_end(Token token, double at) {
  now_ = std::max(now_, at);
  const auto run = static_cast<std::uint32_t>(token >> 32);
  runs_[run].last_flow = static_cast<std::uint32_t>(token);
  if (--runs_[run].flows_left == 0) end_step(run);
  release_waiting();
}

void Executor::end_step(std::uint32_t run) {
  if (--runs_[run].steps_left > 0) {
    start_step(run);
  } else {
    end_collective(run);
  }
}

void Executor::end_collective(std::uint32_t run) {
  CollectiveSpan& collective = timeline_.collectives[run];
  const CollectiveRun& done = runs_[run];
  collective.finish = now_;
  if (done.last_flow) collective.bandwidth_parameter = network_.bottleneck(done.group, *done.last_flow);
  for (std::uint32_t i = 0; i < done.arrived; ++i) {
    const ActivityOfRank member = arrivals_[done.first_arrival + i];
    if (!calibrate::is_with_servers(kind(run))) set_communicating(member.instance, -1);
    finish(member);
  }
}

}  // namespace foretrain::sim::engine
