// Earliest: when the activities of a step end when nothing outside it holds them up.
#pragma once

#include <vector>

#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

// Follows one step while it is written: streams in order, dependencies, the catalogue's times (a measured step changes
// none of them, so that what is decided from them is the same whatever was measured); a collective takes no time.
class Earliest {
 public:
  explicit Earliest(StepWriter& writer) : writer_(writer) {}
  [[nodiscard]] Seconds end_of(ActivityIndex activity);

 private:
  StepWriter& writer_;
  std::vector<Seconds> ends_, stream_ends_;
};

}  // namespace foretrain::sim::strategies
