#include "sim/strategies/earliest.h"

#include <algorithm>

namespace foretrain::sim::strategies {

Seconds Earliest::end_of(ActivityIndex activity) {
  stream_ends_.resize(program_.streams.size());
  while (ends_.size() <= activity) {
    const Activity& next = program_.activities[ends_.size()];
    Seconds start = stream_ends_[next.stream];
    for (std::uint32_t i = 0; i < next.dependency_count; ++i) {
      start = std::max(start, ends_[program_.dependencies[next.first_dependency + i]]);
    }
    stream_ends_[next.stream] = start + next.duration.time;
    ends_.push_back(stream_ends_[next.stream]);
  }
  return ends_[activity];
}

}  // namespace foretrain::sim::strategies
