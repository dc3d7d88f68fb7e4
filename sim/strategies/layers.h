// Layers: forward and backward of one micro-batch, as work for host and device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/strategies/reducer.h"
#include "sim/strategies/step_writer.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {

// The operators of all layers, in forward order.
[[nodiscard]] std::vector<const models::Operator*> flat_operators(const models::Model& model);

// What one operator asks of host and device in every micro-batch.
struct OperatorWork {
  std::vector<Work> forward;  // under autocast: the cast of its weights, then the operator
  std::vector<Work>
      backward;  // none where it runs forward only; the operator, then the cast of its weight gradients back to fp32
  std::vector<Work> accumulate;  // adding those gradients to the ones already there, from the second micro-batch on
  std::optional<TableExchange> exchange;  // of a table spread over all ranks
  double saved_bytes = 0;                 // allocated by forward, freed by backward
  double input_gradient_bytes = 0;        // allocated by backward, freed by the backward of the operator before
};

// Whether an activity's label stands for several micro-batches at once (Layers::write_repeated).
[[nodiscard]] bool is_repeated(const std::string& label);

class Layers {
 public:
  // `accumulation`: micro-batches in a step, for the terms of `explain`; `adds_up`: their gradients are added up.
  Layers(StepWriter& writer, std::int64_t accumulation, bool adds_up);

  struct Turn {
    bool first = true;     // of the step
    bool reduces = true;   // the reducer takes its gradients
    bool adds_up = false;  // its gradients are added to those already there
  };
  // One micro-batch, activity by activity, after `after` (and what was written before it); `reducer` is null on one
  // GPU.
  void write_micro_batch(Turn turn, Reducer* reducer, std::vector<ActivityIndex> after);
  // `count` further micro-batches as one activity per stream, category and parameter. Host and device advance
  // independently, as they do in a long run of equal micro-batches: whichever is slower sets the pace.
  void write_repeated(std::int64_t count);

  [[nodiscard]] std::vector<std::string> extrapolated() const { return extrapolated_; }

 private:
  OperatorWork work_of(const models::Operator& op, const models::Operator* before, std::int64_t accumulation,
                       bool adds_up);
  void write_forward(Turn turn, Reducer* reducer, std::vector<ActivityIndex>& arriving);
  void write_backward(Turn turn, Reducer* reducer, std::vector<ActivityIndex>& arriving);
  // A collective over all ranks that waits for `after`, and what comes next waits for.
  ActivityIndex exchange_table(calibrate::CollectiveKind kind, Bytes bytes, ActivityIndex after);
  Work timed(const models::Operator& op, calibrate::Direction direction, std::int64_t accumulation);
  Work weight_pass(const models::Operator& op, const std::string& what, const char* launch_key,
                   double bytes_per_element, double times);

  StepWriter& writer_;
  ActivityIndex last_ = 0;  // on the device
  std::vector<OperatorWork> operators_;
  std::vector<std::string> extrapolated_;  // operators outside the calibrated range
};

}  // namespace foretrain::sim::strategies
