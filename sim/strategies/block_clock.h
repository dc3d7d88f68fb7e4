// BlockClock: how long a run of device work takes alone, and what that time is made of.
//
// Host and device begin together; the host launches ahead, and the device stands still until what comes next has been
// launched. Collectives of layers are waited for and take their time while all groups of their communicator run at once.
#pragma once

#include "sim/program.h"
#include "sim/strategies/local_model.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class BlockClock {
 public:
  explicit BlockClock(StepWriter& writer) : writer_(writer) {}

  void work(const Work& work, Category category);
  void collective(const LayerCollective& collective);
  // For those who count the host's time by themselves.
  void collective_without_launch(const LayerCollective& collective);

  [[nodiscard]] double seconds() const { return device_; }
  // Of everything so far, parts alike added up; never empty.
  [[nodiscard]] Mixture take();

 private:
  void launch(Duration host);
  void add(Category category, calibrate::CollectiveKind kind, ParameterId parameter, double seconds);

  StepWriter& writer_;
  double host_ = 0, device_ = 0;  // seconds since the beginning
  Mixture parts_;
};

}  // namespace foretrain::sim::strategies
