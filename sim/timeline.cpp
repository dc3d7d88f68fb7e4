#include "sim/timeline.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "sim/mixture.h"

namespace foretrain::sim {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo: offset basis and prime of the public specification).
class Fnv {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ = (state_ ^ (value & 0xff)) * 0x100000001b3u;
      value >>= 8;
    }
  }
  void add(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  [[nodiscard]] std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

std::uint32_t instance_of(const Timeline& timeline, SpanIndex span) {
  const auto after = std::upper_bound(timeline.first_of.begin(), timeline.first_of.end(), span);
  return static_cast<std::uint32_t>(after - timeline.first_of.begin() - 1);
}

// The instance's number of activities follows from where the next one's begin.
SpanIndex end_of(const Timeline& timeline, std::size_t instance) {
  return instance + 1 < timeline.first_of.size() ? timeline.first_of[instance + 1]
                                                 : static_cast<SpanIndex>(timeline.spans.size());
}

}  // namespace

std::uint64_t Timeline::hash() const {
  Fnv hash;
  for (std::size_t i = 0; i < first_of.size(); ++i) {
    for (SpanIndex s = first_of[i]; s < end_of(*this, i); ++s) {
      hash.add(std::uint64_t{i});
      hash.add(std::uint64_t{s} - first_of[i]);
      hash.add(spans[s].start);
      hash.add(spans[s].finish);
    }
  }
  return hash.state();
}

namespace {

// When a rank's own step begins where steps overlap: with its first work on the device, and before that the host work
// that is done by then.
double own_begin(const Program& program, const Timeline& timeline, std::size_t instance) {
  const SpanIndex first = timeline.first_of[instance];
  const auto is_on_device = [&](const Activity& activity) {
    return !activity.is_collective && program.streams[activity.stream].kind == StreamKind::compute;
  };
  double device = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < program.activities.size(); ++a) {
    if (is_on_device(program.activities[a])) device = std::min(device, timeline.spans[first + a].start);
  }
  if (std::isinf(device)) return 0;
  double begin = device;
  for (std::size_t a = 0; a < program.activities.size(); ++a) {
    const Activity& activity = program.activities[a];
    const Span& span = timeline.spans[first + a];
    const bool on_host = !activity.is_collective && program.streams[activity.stream].kind == StreamKind::host;
    if (on_host && span.finish <= device) begin -= span.finish - span.start;
  }
  return std::max(0.0, begin);
}

}  // namespace

LongestStep longest_step(const Job& job, const Timeline& timeline) {
  LongestStep longest;
  for (std::size_t i = 0; i < job.instances.size(); ++i) {
    const Program& program = job.programs[job.instances[i].program];
    double finish = 0;
    for (SpanIndex s = timeline.first_of[i]; s < end_of(timeline, i); ++s) {
      finish = std::max(finish, timeline.spans[s].finish);
    }
    const double begin = job.steps_overlap ? own_begin(program, timeline, i) : 0.0;
    if (finish - begin <= longest.finish - longest.begin) continue;
    longest = {static_cast<std::uint32_t>(i), begin, finish};
  }
  return longest;
}

SpanIndex last_of_longest_step(const Job& job, const Timeline& timeline) {
  if (job.instances.empty()) return no_span;
  const std::uint32_t instance = timeline.longest.instance;
  const auto begin = timeline.spans.begin() + timeline.first_of[instance];
  const auto end = timeline.spans.begin() + end_of(timeline, instance);
  const auto last = std::max_element(begin, end, [](const Span& a, const Span& b) { return a.finish < b.finish; });
  return last == end ? no_span : static_cast<SpanIndex>(last - timeline.spans.begin());
}

std::vector<double> memory_peaks(const Job& job, const Timeline& timeline) {
  struct Change {
    double at = 0;
    double bytes = 0;
  };
  std::vector<double> peaks;
  std::vector<Change> changes;
  for (std::size_t i = 0; i < job.instances.size(); ++i) {
    const Program& program = job.programs[job.instances[i].program];
    changes.clear();
    for (std::size_t a = 0; a < program.activities.size(); ++a) {
      const Activity& activity = program.activities[a];
      const Span& span = timeline.spans[timeline.first_of[i] + a];
      if (activity.allocates_bytes != 0) changes.push_back({span.start, activity.allocates_bytes});
      if (activity.frees_bytes != 0) changes.push_back({span.finish, -activity.frees_bytes});
    }
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.bytes < b.bytes; });
    double held = program.resident_bytes;
    double peak = held;
    for (const Change& change : changes) peak = std::max(peak, held += change.bytes);
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<CriticalShare> critical_path(const Job& job, const Timeline& timeline) {
  std::map<std::uint32_t, double> seconds;
  const double begin = timeline.longest.begin;
  const auto within = [&](double from, double to) { return std::max(0.0, to - std::max(from, begin)); };
  SpanIndex at = last_of_longest_step(job, timeline);
  while (at != no_span && timeline.spans[at].finish > begin) {
    const Span& span = timeline.spans[at];
    const std::uint32_t collective = timeline.collective_of[at];
    if (collective != no_span) {
      const CollectiveSpan& run = timeline.collectives[collective];
      seconds[run.bandwidth_parameter.index] += within(run.alpha_end, run.finish);
      seconds[run.alpha_parameter.index] += within(run.all_arrived, run.alpha_end);
    } else {
      const std::uint32_t instance = instance_of(timeline, at);
      const Program& program = job.programs[job.instances[instance].program];
      const Activity& activity = program.activities[at - timeline.first_of[instance]];
      const double stretch = job.instances[instance].stretch;
      std::vector<Part> parts;  // none of a collective of a rank by itself, which took no time
      if (!activity.is_collective) parts = parts_of(program, activity, stretch, within(span.start, span.finish));
      for (const Part& part : parts) seconds[part.parameter.index] += part.seconds;
    }
    at = span.released_by;
  }
  std::vector<CriticalShare> shares;
  for (const auto& [parameter, time] : seconds) {
    if (time > 0) shares.push_back({ParameterId{parameter}, time});
  }
  return shares;
}

}  // namespace foretrain::sim
