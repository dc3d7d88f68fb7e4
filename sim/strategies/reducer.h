// Reducer: what a stack does with gradients between backward and the optimizer.
//
// compose calls it while it writes the micro-batches; one file per reducer, and reducer.cpp knows their names.
// Nobody else does. What a reducer does not override is what plain data parallelism does.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/placement.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Reducer {
 public:
  virtual ~Reducer() = default;
  // The communicators that its collectives name, over all ranks of the job.
  [[nodiscard]] virtual std::vector<Communicator> communicators() const = 0;
  // Sharded parameters, in every micro-batch: what the forward pass of operator `index` (in forward order) waits for;
  // after it; and what everything of its backward pass waits for, recomputing it included. `on_device` is what was
  // written last on the compute stream (none yet at the beginning of the step).
  virtual void begin_micro_batch(bool /*first*/, bool /*reduces*/) {}
  [[nodiscard]] virtual std::vector<ActivityIndex> gather_for_forward(std::size_t /*index*/,
                                                                      std::optional<ActivityIndex> /*on_device*/) {
    return {};
  }
  virtual void after_forward(std::size_t /*index*/, ActivityIndex /*done*/) {}
  [[nodiscard]] virtual std::vector<ActivityIndex> gather_for_backward(std::size_t /*index*/,
                                                                       ActivityIndex /*on_device*/) {
    return {};
  }
  // What the forward pass of operator `index` waits for in the first micro-batch (parameters on their way).
  [[nodiscard]] virtual std::vector<ActivityIndex> before_forward(std::size_t index);
  // In every micro-batch that is reduced: between forward and backward, and right after operator `index` (in forward
  // order) wrote its backward activity `gradients_done`.
  virtual void before_backward() {}
  virtual void after_backward(std::size_t index, ActivityIndex gradients_done) = 0;
  // After the whole backward pass of a micro-batch that is reduced; returns what the optimizer, or the next
  // micro-batch, waits for. The next backward pass starts anew.
  [[nodiscard]] virtual std::vector<ActivityIndex> finish() = 0;
  // In micro-batches that are not reduced, too: after everything that operator `index` does in backward.
  virtual void after_any_backward(std::size_t /*index*/, ActivityIndex /*done*/) {}
  // After the last update of the step, which ends with `updated`.
  virtual void after_last_update(ActivityIndex /*updated*/) {}
  // Whether every rank updates all parameters itself (parameter servers do it for their workers).
  [[nodiscard]] virtual bool updates_parameters() const { return true; }
  // Whether parameters are gathered anew in every micro-batch, which must then all be written out.
  [[nodiscard]] virtual bool gathers_parameters() const { return false; }
  // The share of this rank's parameters whose optimizer state it holds and updates.
  [[nodiscard]] virtual double updated_share() const { return 1.0; }
  // Whether a step of all ranks ends with the slowest of them.
  [[nodiscard]] virtual bool waits_for_all_ranks() const { return true; }
  // Whether every micro-batch is reduced, instead of the last one alone.
  [[nodiscard]] virtual bool reduces_every_micro_batch() const { return false; }

 protected:
  Reducer() = default;
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;
};

// One communicator named "data" over all `ranks`.
[[nodiscard]] std::vector<Communicator> everyone(int ranks);

[[nodiscard]] std::vector<std::string> reducer_names();
// Throws Error when reducer or compression are not known, or do not go together.
void require_known_reducer(const StackChoice& choice, const calibrate::Stack& stack);
// Whether every micro-batch is followed by an update of its own (on any number of GPUs).
[[nodiscard]] bool updates_every_micro_batch(const StackChoice& choice, const calibrate::Stack& stack);

// The chosen reducer for a job of several data-parallel ranks; throws as require_known_reducer.
[[nodiscard]] std::unique_ptr<Reducer> make_reducer(StepWriter& writer);

}  // namespace foretrain::sim::strategies
