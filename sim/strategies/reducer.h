// Reducer: what a stack does with gradients between backward and the optimizer.
//
// compose calls it while it writes the last micro-batch; one file per reducer, and make_reducer knows their
// names. Nobody else does.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Reducer {
 public:
  virtual ~Reducer() = default;
  // Right after operator `index` (in forward order) wrote its backward activity `gradients_done`.
  virtual void after_backward(std::size_t index, ActivityIndex gradients_done) = 0;
  // After the whole backward pass; returns what the optimizer waits for.
  [[nodiscard]] virtual std::vector<ActivityIndex> finish() = 0;

 protected:
  Reducer() = default;
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;
};

// The stack's reducer for a job of several data-parallel ranks. Throws Error for one that is not known.
[[nodiscard]] std::unique_ptr<Reducer> make_reducer(StepWriter& writer);

}  // namespace foretrain::sim::strategies
