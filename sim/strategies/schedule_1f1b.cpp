#include <algorithm>

#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {

Turns one_forward_one_backward(const PipelineShape& shape, int stage) {
  const std::int64_t warm_up = std::min<std::int64_t>(shape.stages - 1 - stage, shape.micro_batches);
  Turns turns;
  for (std::int64_t i = 0; i < warm_up; ++i) turns.push_back({Pass::forward, 0, i});
  for (std::int64_t i = 0; i < shape.micro_batches; ++i) {
    if (warm_up + i < shape.micro_batches) turns.push_back({Pass::forward, 0, warm_up + i});
    turns.push_back({Pass::backward, 0, i});
  }
  return turns;
}

}  // namespace foretrain::sim::strategies
