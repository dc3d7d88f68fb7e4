#include <algorithm>

#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {
namespace {

// Forward passes take as many micro-batches as there are stages through the first chunk, the same through the second,
// and so on; backward passes alike from the last chunk on.
Turn forward_turn(const PipelineShape& shape, std::int64_t position) {
  const int group_size = shape.stages * shape.chunks;
  const auto in_group = static_cast<int>(position % group_size);
  return {Pass::forward, in_group / shape.stages, position / group_size * shape.stages + in_group % shape.stages};
}

Turn backward_turn(const PipelineShape& shape, std::int64_t position) {
  Turn turn = forward_turn(shape, position);
  turn.pass = Pass::backward;
  turn.chunk = shape.chunks - 1 - turn.chunk;
  return turn;
}

}  // namespace

// Narayanan et al. 2021, section 2.2: a stage starts backward passes after 2·(p−1−s) + (v−1)·p forward ones.
Turns interleaved(const PipelineShape& shape, int stage) {
  const std::int64_t passes = shape.micro_batches * shape.chunks;
  const std::int64_t warm_up =
      std::min<std::int64_t>(2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages, passes);
  Turns turns;
  for (std::int64_t i = 0; i < warm_up; ++i) turns.push_back(forward_turn(shape, i));
  for (std::int64_t i = 0; i < passes; ++i) {
    if (warm_up + i < passes) turns.push_back(forward_turn(shape, warm_up + i));
    turns.push_back(backward_turn(shape, i));
  }
  return turns;
}

}  // namespace foretrain::sim::strategies
