#include "sim/studies/critical_kinds.h"

#include <algorithm>
#include <vector>

#include "sim/layout.h"
#include "sim/mixture.h"

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

// What a collective is for, by its communicator (sim/layout.h).
std::string purpose(const std::string& communicator, calibrate::CollectiveKind kind) {
  if (communicator == tensor_communicator) return "tensor parallelism";
  if (kind == calibrate::CollectiveKind::send_receive) return "pipeline transfers";
  if (kind == calibrate::CollectiveKind::all_gather && communicator != tensor_communicator) {
    return "parameter gathering";
  }
  if (communicator == embedding_communicator) return "shared embedding";
  return "gradient exchange";
}

void add_parts(const std::vector<Part>& parts, const std::string& label, CriticalKinds& kinds) {
  for (const Part& part : parts) {
    Bottleneck kind = Bottleneck::computation;
    if (part.category == Category::communication) {
      kind = Bottleneck::communication;
      kinds.communication_by_purpose["tensor parallelism"] += part.seconds;
    } else if (part.category == Category::launch) {
      kind = Bottleneck::launches;
    } else {
      kinds.mixed_by_parameter[part.parameter.index] += part.seconds;
    }
    kinds.seconds[kind] += part.seconds;
    kinds.by_label[kind][label] += part.seconds;
  }
}

std::uint32_t instance_of(const Timeline& timeline, const Job& job, SpanIndex span) {
  const auto end = timeline.first_of.begin() + static_cast<std::ptrdiff_t>(job.instances.size());
  const auto after = std::upper_bound(timeline.first_of.begin(), end, span);
  return static_cast<std::uint32_t>(after - timeline.first_of.begin() - 1);
}

}  // namespace

CriticalKinds critical_kinds(const Job& job, const Timeline& timeline) {
  CriticalKinds kinds;
  const double begin_of_step = timeline.longest.begin;
  for (SpanIndex at = last_of_longest_step(job, timeline);
       at != no_span && timeline.spans[at].finish > begin_of_step; at = timeline.spans[at].released_by) {
    const std::uint32_t instance = instance_of(timeline, job, at);
    const Program& program = job.programs[job.instances[instance].program];
    const Activity& activity = program.activities[at - timeline.first_of[instance]];
    const Span& span = timeline.spans[at];
    const std::uint32_t collective = timeline.collective_of[at];
    const double begin = collective == no_span ? span.start : timeline.collectives[collective].all_arrived;
    const double seconds = std::max(0.0, span.finish - std::max(begin, begin_of_step));
    if (activity.mixture != no_mixture) {
      add_parts(parts_of(program, activity, job.instances[instance].stretch, seconds),
                program.labels[activity.label], kinds);
      continue;
    }
    const Bottleneck kind = kind_of(program, activity);
    kinds.seconds[kind] += seconds;
    kinds.by_label[kind][program.labels[activity.label]] += seconds;
    if (activity.is_collective) {
      kinds.communication_by_purpose[purpose(program.communicators[activity.communicator], activity.collective)] +=
          seconds;
    }
  }
  return kinds;
}

}  // namespace foretrain::sim::studies
