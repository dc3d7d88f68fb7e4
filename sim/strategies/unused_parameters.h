// UnusedParameters: DistributedDataParallel's search for parameters without a gradient (find_unused_parameters).
//
// After every forward pass the host walks the graph, here one launch's host time per tensor of parameters; after the
// buckets all ranks add up a map of four bytes per tensor, and the host reads it before it goes on
// (docs: DistributedDataParallel, find_unused_parameters; torch/csrc/distributed/c10d/reducer.cpp,
// search_unused_parameters and all_reduce_local_used_map; unverified). A static graph is not searched.
#pragma once

#include <optional>

#include "sim/strategies/exchange.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class UnusedParameters {
 public:
  UnusedParameters(StepWriter& writer, Exchange& exchange);
  void search();  // between forward and backward
  void agree();   // after the last bucket
  void read();    // before the host goes on

 private:
  StepWriter& writer_;
  Exchange& exchange_;
  double tensors_ = 0;  // 0 = nothing is searched
  std::optional<ActivityIndex> agreed_;
};

}  // namespace foretrain::sim::strategies
