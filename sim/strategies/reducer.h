// Reducer: what a stack does with gradients between backward and the optimizer.
//
// compose calls it while it writes the micro-batches; one file per reducer, and make_reducer knows their names.
// Nobody else does. What a reducer does not override is what plain data parallelism does.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/placement.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Reducer {
 public:
  virtual ~Reducer() = default;
  // The communicators that its collectives name, over all ranks of the job.
  [[nodiscard]] virtual std::vector<Communicator> communicators() const = 0;
  // What the forward pass of operator `index` waits for in the first micro-batch (parameters on their way).
  [[nodiscard]] virtual std::vector<ActivityIndex> before_forward(std::size_t index);
  // Right after operator `index` (in forward order) wrote its backward activity `gradients_done`.
  virtual void after_backward(std::size_t index, ActivityIndex gradients_done) = 0;
  // After the whole backward pass; returns what the optimizer waits for.
  [[nodiscard]] virtual std::vector<ActivityIndex> finish() = 0;
  // Whether every rank updates all parameters itself (parameter servers do it for their workers).
  [[nodiscard]] virtual bool updates_parameters() const { return true; }

 protected:
  Reducer() = default;
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;
};

// One communicator named "data" over all `ranks`.
[[nodiscard]] std::vector<Communicator> everyone(int ranks);

// The stack's reducer for a job of several data-parallel ranks. Throws Error for one that is not known.
[[nodiscard]] std::unique_ptr<Reducer> make_reducer(StepWriter& writer);

}  // namespace foretrain::sim::strategies
