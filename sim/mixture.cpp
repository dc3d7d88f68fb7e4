#include "sim/mixture.h"

#include <cassert>

namespace foretrain::sim {
namespace {

bool is_stretched(const Program& program, const Activity& activity) {
  return program.streams[activity.stream].kind == StreamKind::compute;
}

}  // namespace

double time_multiplier(const Draw* draw, ParameterId parameter) {
  if (draw == nullptr) return 1.0;
  assert(parameter.index < draw->size());
  return (*draw)[parameter.index];
}

ActivityTimes::ActivityTimes(const std::vector<Program>& programs, const Draw* draw)
    : programs_(programs), draw_(draw) {
  for (const Program& program : programs) {
    std::vector<MixtureTime>& times = mixtures_.emplace_back();
    for (const Mixture& mixture : program.mixtures) {
      MixtureTime& time = times.emplace_back();
      for (const Part& part : mixture) {
        const double seconds = part.seconds * time_multiplier(draw, part.parameter);
        (part.category == Category::communication ? time.communication : time.work) += seconds;
      }
    }
  }
}

double ActivityTimes::seconds(std::uint32_t program, const Activity& activity, double stretch) const {
  assert(!activity.is_collective);
  if (!is_stretched(programs_[program], activity)) stretch = 1.0;
  if (activity.mixture == no_mixture) {
    return activity.duration.time.value * time_multiplier(draw_, activity.duration.parameter) * stretch;
  }
  const MixtureTime& time = mixtures_[program][activity.mixture];
  return time.work * stretch + time.communication;
}

std::vector<Part> parts_of(const Program& program, const Activity& activity, double stretch, double seconds) {
  assert(!activity.is_collective);
  if (activity.mixture == no_mixture) return {{activity.category, {}, activity.duration.parameter, seconds}};
  std::vector<Part> parts = program.mixtures[activity.mixture];
  double total = 0;
  for (Part& part : parts) {
    if (part.category != Category::communication && is_stretched(program, activity)) part.seconds *= stretch;
    total += part.seconds;
  }
  if (total <= 0) return {};
  for (Part& part : parts) part.seconds *= seconds / total;
  return parts;
}

}  // namespace foretrain::sim
