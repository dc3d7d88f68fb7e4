// Timeline: when every activity of every replayed rank ran, and what released it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "sim/job.h"

namespace foretrain::sim {

// Index of an activity of an instance in one flat numbering: Timeline::first_of[instance] + activity.
using SpanIndex = std::uint32_t;
inline constexpr SpanIndex no_span = 0xffffffffu;

struct Span {
  double start = 0;  // seconds; a collective's start is when this rank arrived
  double finish = 0;
  SpanIndex released_by = no_span;  // whose finish let it start (or, for a collective, let the last member arrive)
};

// One execution of a collective on a group.
struct CollectiveSpan {
  std::uint32_t group = 0;
  double all_arrived = 0;  // the last member came
  double alpha_end = 0;    // latency paid, flows start
  double finish = 0;
  ParameterId alpha_parameter, bandwidth_parameter;  // of the latency and of the link that bound the slowest flow
};

// The instance whose step lasts longest, and when that begins and ends. A step begins with the replay, but where steps
// overlap a rank's begins with its first work on the device (and the host work before that): all earlier time belongs
// to its step before. In a steady state every rank begins again after the longest step of any: no rank is then still
// busy, and what ranks wait for within a step is shifted alike.
struct LongestStep {
  std::uint32_t instance = 0;
  double begin = 0, finish = 0;
};

struct Timeline {
  double step_seconds = 0;              // from one step to the next: the longest step of any instance
  LongestStep longest;
  std::vector<std::uint32_t> first_of;  // by instance
  std::vector<Span> spans;
  std::vector<std::uint32_t> collective_of;  // by span: index into collectives, or no_span
  std::vector<CollectiveSpan> collectives;
  std::vector<double> peak_bytes;  // by instance, resident memory included: memory_peaks()
  std::uint64_t events = 0;
  [[nodiscard]] std::uint64_t hash() const;  // over (instance, activity, start bits, finish bits)
};

// Needs the spans alone.
[[nodiscard]] LongestStep longest_step(const Job& job, const Timeline& timeline);

// The last activity of the longest step, from which the critical path is walked back.
[[nodiscard]] SpanIndex last_of_longest_step(const Job& job, const Timeline& timeline);

// The most memory each instance holds at once; at one instant, frees come before allocations.
[[nodiscard]] std::vector<double> memory_peaks(const Job& job, const Timeline& timeline);

// Seconds of the step's critical path by parameter, walked back from the end of the longest step over released_by to
// its beginning.
// They sum to step_seconds (up to rounding); waiting never appears, whatever was waited for does. What stands for many
// activities counts by its parts (sim/mixture.h).
struct CriticalShare {
  ParameterId parameter;
  double seconds = 0;
};
[[nodiscard]] std::vector<CriticalShare> critical_path(const Job& job, const Timeline& timeline);

}  // namespace foretrain::sim
