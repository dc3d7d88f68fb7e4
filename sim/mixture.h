// Mixtures at work: how long timed activities take in a draw, and how a span is dealt to what it was made of.
//
// An activity that stands for many (Program::mixtures) takes what its parts take, each by its own parameter;
// a rank's stretch lengthens the parts on a compute stream but for communication. Whoever reads a timeline
// asks parts_of() and need not know whether an activity stands for one kernel or for a stage's forward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "sim/program.h"

namespace foretrain::sim {

// How much longer what rests on `parameter` takes in this draw (none = not at all).
[[nodiscard]] double time_multiplier(const Draw* draw, ParameterId parameter);

// Seconds of the timed activities of some programs in one draw; mixtures are summed up once.
class ActivityTimes {
 public:
  // `programs` must outlive it.
  ActivityTimes(const std::vector<Program>& programs, const Draw* draw);

  // What the activity of `program` (index into the programs) takes by itself on a rank with this stretch.
  [[nodiscard]] double seconds(std::uint32_t program, const Activity& activity, double stretch) const;

 private:
  struct MixtureTime {
    double work = 0, communication = 0;  // seconds
  };

  const std::vector<Program>& programs_;
  const Draw* draw_;
  std::vector<std::vector<MixtureTime>> mixtures_;  // by program and mixture
};

// The parts of a timed activity that ran for `seconds` on a rank with this stretch, each with its share of them (in
// proportion to what they take without a draw); an activity without a mixture is its only part.
[[nodiscard]] std::vector<Part> parts_of(const Program& program, const Activity& activity, double stretch,
                                         double seconds);

}  // namespace foretrain::sim
