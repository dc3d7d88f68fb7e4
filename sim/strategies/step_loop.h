// StepLoop: the micro-batches of a step without a pipeline, and what follows each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategies/chunk.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

// What happens in every micro-batch of a step and not once: gradients are reduced, parameters updated, activations of
// tables exchanged, sharded parameters gathered.
struct Pace {
  bool reduces_every = false;
  bool updates_every = false;
  bool exchanges_every = false;
  bool gathers_every = false;
  [[nodiscard]] bool written_out() const { return reduces_every || updates_every || exchanges_every || gathers_every; }
};

class StepLoop {
 public:
  // `reducer` is null where nothing is shared.
  StepLoop(StepWriter& writer, Chunk& layers, Reducer* reducer, Pace pace)
      : writer_(writer), layers_(layers), reducer_(reducer), pace_(pace) {}

  // Throws Error when there are too many micro-batches to be written out one by one.
  void write(std::int64_t accumulation);

 private:
  void write_micro_batch(bool first, bool last);

  StepWriter& writer_;
  Chunk& layers_;
  Reducer* reducer_;
  Pace pace_;
  std::vector<ActivityIndex> after_;  // what the next micro-batch, or the update, waits for
};

}  // namespace foretrain::sim::strategies
