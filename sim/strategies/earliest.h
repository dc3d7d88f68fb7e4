// Earliest: when the activities of a program end when nothing outside it holds them up.
#pragma once

#include <vector>

#include "sim/program.h"

namespace foretrain::sim::strategies {

// Follows one program while it is written: streams in order, dependencies, the times as they stand; a collective takes
// no time.
class Earliest {
 public:
  explicit Earliest(const Program& program) : program_(program) {}
  [[nodiscard]] Seconds end_of(ActivityIndex activity);

 private:
  const Program& program_;
  std::vector<Seconds> ends_, stream_ends_;
};

}  // namespace foretrain::sim::strategies
