#include "sim/studies/critical_kinds.h"

#include <algorithm>

namespace foretrain::sim::studies {
namespace {

Bottleneck kind_of(const Program& program, const Activity& activity) {
  if (activity.is_collective) return Bottleneck::communication;
  switch (program.streams[activity.stream].kind) {
    case StreamKind::host: return Bottleneck::launches;
    case StreamKind::input: return Bottleneck::input;
    case StreamKind::communication: return Bottleneck::communication;
    case StreamKind::compute: break;
  }
  return Bottleneck::computation;
}

SpanIndex last_span(const Timeline& timeline) {
  const auto last = std::max_element(timeline.spans.begin(), timeline.spans.end(),
                                     [](const Span& a, const Span& b) { return a.finish < b.finish; });
  return static_cast<SpanIndex>(last - timeline.spans.begin());
}

std::uint32_t instance_of(const Timeline& timeline, const Job& job, SpanIndex span) {
  const auto end = timeline.first_of.begin() + static_cast<std::ptrdiff_t>(job.instances.size());
  const auto after = std::upper_bound(timeline.first_of.begin(), end, span);
  return static_cast<std::uint32_t>(after - timeline.first_of.begin() - 1);
}

}  // namespace

std::uint32_t last_instance(const Job& job, const Timeline& timeline) {
  return instance_of(timeline, job, last_span(timeline));
}

CriticalKinds critical_kinds(const Job& job, const Timeline& timeline) {
  CriticalKinds kinds;
  for (SpanIndex at = last_span(timeline); at != no_span; at = timeline.spans[at].released_by) {
    const std::uint32_t instance = instance_of(timeline, job, at);
    const Program& program = job.programs[job.instances[instance].program];
    const Activity& activity = program.activities[at - timeline.first_of[instance]];
    const Span& span = timeline.spans[at];
    const std::uint32_t collective = timeline.collective_of[at];
    const double begin = collective == no_span ? span.start : timeline.collectives[collective].all_arrived;
    const Bottleneck kind = kind_of(program, activity);
    kinds.seconds[kind] += span.finish - begin;
    kinds.by_label[kind][program.labels[activity.label]] += span.finish - begin;
  }
  return kinds;
}

}  // namespace foretrain::sim::studies
