// The handcrafted schedules of Qi et al. 2023 (arXiv:2401.10241, section 2), in closed form.
//
// A stage runs some forward passes, then rounds of an input gradient B, a weight gradient W and a forward pass F. The
// first rounds go without W, so that later stages, which began with fewer forward passes, hold as many micro-batches as
// the first one; from then on W follows B at that distance, and what is left of it fills the end, where others drain.
#include <algorithm>

#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {
namespace {

// `warm_up` forward passes, then rounds whose weight gradients are `behind` micro-batches late.
Turns rounds(const PipelineShape& shape, std::int64_t warm_up, std::int64_t behind) {
  const std::int64_t count = shape.micro_batches;
  Turns turns;
  for (std::int64_t i = 0; i < std::min(warm_up, count); ++i) turns.push_back({Pass::forward, 0, i});
  for (std::int64_t i = 0; i < count; ++i) {
    turns.push_back({Pass::input_gradient, 0, i});
    if (i >= behind) turns.push_back({Pass::weight_gradient, 0, i - behind});
    if (warm_up + i < count) turns.push_back({Pass::forward, 0, warm_up + i});
  }
  for (std::int64_t i = std::max<std::int64_t>(count - behind, 0); i < count; ++i) {
    turns.push_back({Pass::weight_gradient, 0, i});
  }
  return turns;
}

}  // namespace

// At most p micro-batches on any stage, as 1f1b has on its first.
Turns zero_bubble_h1(const PipelineShape& shape, int stage) { return rounds(shape, shape.stages - stage, stage); }

// At most 2p−1 micro-batches: enough forward passes for the first stage to be busy until the first gradients arrive.
Turns zero_bubble_h2(const PipelineShape& shape, int stage) {
  return rounds(shape, 2 * (shape.stages - stage) - 1, 2 * stage);
}

}  // namespace foretrain::sim::strategies
