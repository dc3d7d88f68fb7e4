#include "sim/timeline.h"

#include <algorithm>
#include <cassert>
#include <cstring>
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
  const auto last = std::max_element(timeline.spans.begin(), timeline.spans.end(),
                                     [](const Span& a, const Span& b) { return a.finish < b.finish; });
  SpanIndex at = last == timeline.spans.end() ? no_span : static_cast<SpanIndex>(last - timeline.spans.begin());
  while (at != no_span) {
    const Span& span = timeline.spans[at];
    const std::uint32_t collective = timeline.collective_of[at];
    if (collective != no_span) {
      const CollectiveSpan& run = timeline.collectives[collective];
      seconds[run.bandwidth_parameter.index] += run.finish - run.alpha_end;
      seconds[run.alpha_parameter.index] += run.alpha_end - run.all_arrived;
    } else {
      const std::uint32_t instance = instance_of(timeline, at);
      const Program& program = job.programs[job.instances[instance].program];
      const Activity& activity = program.activities[at - timeline.first_of[instance]];
      const double stretch = job.instances[instance].stretch;
      std::vector<Part> parts;  // none of a collective of a rank by itself, which took no time
      if (!activity.is_collective) parts = parts_of(program, activity, stretch, span.finish - span.start);
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
