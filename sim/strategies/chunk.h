// Chunk: the layers that a rank runs together for a micro-batch: all of them, a pipeline stage's, or some of a stage's.
//
// A pass over it is written in detail, operator by operator with launches and collectives, or as one activity (a block)
// that takes as long as that detail would take alone: host and device start together, the device waits for launches and
// for the collectives of its layers, which take their time while all groups of their communicator run at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/strategies/chunk_memory.h"
#include "sim/strategies/local_model.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/schedule.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

// What one operator asks of host and device in every micro-batch.
struct OperatorWork {
  const LocalOperator* local = nullptr;
  std::vector<Work> forward;  // under autocast: the cast of its weights, then the operator
  // None where it runs forward only; the operator, then the cast of its weight gradients back to fp32. The two halves
  // take as long together (zero-bubble schedules).
  std::vector<Work> backward, input_gradient, weight_gradient;
  std::vector<Work> accumulate;  // adding those gradients to the ones already there, from the second micro-batch on
  OperatorBytes bytes;
};

// Whether an activity's label stands for several micro-batches at once (Chunk::write_repeated).
[[nodiscard]] bool is_repeated(const std::string& label);

// Whether it is that of a pass written as one activity (Chunk::write_block).
[[nodiscard]] bool is_pass(const std::string& label);

class Chunk {
 public:
  // Writer and model must outlive it. `micro_batches` in a step, for the terms of `explain`; `adds_up`: their gradients
  // are added up. Its operators are numbered for reducers from `first_operator` on.
  Chunk(StepWriter& writer, const LocalModel& model, std::int64_t micro_batches, bool adds_up,
        std::size_t first_operator = 0);

  // Bytes of one micro-batch that go from this rank to the next chunk.
  [[nodiscard]] Bytes output_bytes() const;

  // Which micro-batch of the step a pass is of.
  struct MicroBatch {
    bool first = true;     // of the step
    bool reduces = true;   // the reducer takes its gradients
    bool adds_up = false;  // its gradients are added to those already there
  };
  // In detail, after `after` and what was written before; `reducer` is null where nothing is shared. Returns the last
  // activity on the device.
  // What was left to be waited for at its end (a collective of the last operator), by whoever sends its result on, is
  // in take_unfinished(); a backward pass that follows a forward one waits for it by itself.
  ActivityIndex write_forward(MicroBatch which, Reducer* reducer, std::vector<ActivityIndex> after);
  ActivityIndex write_backward(MicroBatch which, Reducer* reducer, std::vector<ActivityIndex> after);
  [[nodiscard]] std::vector<ActivityIndex> take_unfinished();
  // As one activity on the compute stream; memory is allocated and freed as the detail does.
  // `arriving`: a collective that what comes in needs first, the same for all passes of that kind.
  ActivityIndex write_block(Pass pass, MicroBatch which, const std::vector<ActivityIndex>& after,
                            const std::optional<LayerCollective>& arriving = {});
  // `count` further micro-batches, forward and back, as one activity per stream, category and parameter. Host and
  // device advance independently, as they do in a long run of equal micro-batches: whichever is slower sets the pace.
  void write_repeated(std::int64_t count);

  // Seconds of one micro-batch, forward plus backward, by layer: what stages of like time are cut by.
  [[nodiscard]] std::vector<double> layer_seconds() const;
  [[nodiscard]] std::vector<std::string> extrapolated() const { return extrapolated_; }

 private:
  OperatorWork work_of(const LocalOperator& local, std::int64_t micro_batches, bool adds_up);
  Work timed(const models::Operator& op, calibrate::Direction direction, std::int64_t micro_batches);
  Work weight_pass(const models::Operator& op, const std::string& what, const char* launch_key, Bytes bytes,
                   double times);
  void explain_collectives(const LocalOperator& local, double times);
  void write_collectives(const std::vector<LayerCollective>& collectives);
  void write_forward_of(const OperatorWork& work, Category category);
  void recompute(std::size_t first, std::size_t last, Reducer* reducer);
  void wait_for(const std::vector<ActivityIndex>& more);
  // First operator of the segment whose last one is `index`, when it is recomputed.
  [[nodiscard]] std::optional<std::size_t> segment_ending_at(std::size_t index) const;

  // One block: its parts, and what it allocates at its start and frees at its end.
  struct Block {
    std::uint32_t mixture = no_mixture;
    double allocates_bytes = 0, frees_bytes = 0;
  };
  Block make_block(Pass pass, bool adds_up, const std::optional<LayerCollective>& arriving);

  StepWriter& writer_;
  const LocalModel& model_;
  std::size_t first_operator_;
  bool splits_backward_;  // into input and weight gradients
  std::vector<ActivityIndex> arriving_;   // what the next operator waits for besides its stream
  std::vector<ActivityIndex> left_over_;  // of it at the end of a pass
  std::vector<OperatorWork> operators_;
  std::vector<OperatorBytes> bytes_;
  std::vector<std::string> extrapolated_;  // operators outside the calibrated range
  std::array<std::array<std::optional<Block>, 2>, 4> blocks_;  // by pass and whether gradients are added up
};

}  // namespace foretrain::sim::strategies
