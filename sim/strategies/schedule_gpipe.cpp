#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {

// The backward passes begin with the micro-batch that went forward last (Huang et al. 2019, figure 2).
Turns gpipe(const PipelineShape& shape) {
  Turns turns;
  for (std::int64_t i = 0; i < shape.micro_batches; ++i) turns.push_back({Pass::forward, 0, i});
  for (std::int64_t i = shape.micro_batches; i-- > 0;) turns.push_back({Pass::backward, 0, i});
  return turns;
}

}  // namespace foretrain::sim::strategies
