#include "sim/strategies/earliest.h"

#include <algorithm>

namespace foretrain::sim::strategies {

Seconds Earliest::end_of(ActivityIndex activity) {
  const Program& program = writer_.program();
  stream_ends_.resize(program.streams.size());
  while (ends_.size() <= activity) {
    const Activity& next = program.activities[ends_.size()];
    Seconds start = stream_ends_[next.stream];
    for (std::uint32_t i = 0; i < next.dependency_count; ++i) {
      start = std::max(start, ends_[program.dependencies[next.first_dependency + i]]);
    }
    stream_ends_[next.stream] = start + writer_.unanchored(next.duration);
    ends_.push_back(stream_ends_[next.stream]);
  }
  return ends_[activity];
}

}  // namespace foretrain::sim::strategies
