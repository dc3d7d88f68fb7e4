#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {

Turns one_at_a_time(const PipelineShape& shape) {
  Turns turns;
  for (std::int64_t i = 0; i < shape.micro_batches; ++i) {
    turns.push_back({Pass::forward, 0, i});
    turns.push_back({Pass::backward, 0, i});
  }
  return turns;
}

}  // namespace foretrain::sim::strategies
