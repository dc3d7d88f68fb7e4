// The orders behind schedule_of(), one function per schedule, each in a file of its own; 0 ≤ stage < stages.
#pragma once

#include <vector>

#include "sim/strategies/schedule.h"

namespace foretrain::sim::strategies {

using Turns = std::vector<Turn>;

[[nodiscard]] Turns one_at_a_time(const PipelineShape& shape);
[[nodiscard]] Turns gpipe(const PipelineShape& shape);
[[nodiscard]] Turns one_forward_one_backward(const PipelineShape& shape, int stage);
[[nodiscard]] Turns interleaved(const PipelineShape& shape, int stage);
[[nodiscard]] Turns zero_bubble_h1(const PipelineShape& shape, int stage);
[[nodiscard]] Turns zero_bubble_h2(const PipelineShape& shape, int stage);
[[nodiscard]] Turns zero_bubble_v(const PipelineShape& shape, int stage);

}  // namespace foretrain::sim::strategies
