#include "sim/strategies/block_clock.h"

#include <utility>

namespace foretrain::sim::strategies {

using calibrate::CollectiveKind;

void BlockClock::work(const Work& work, Category category) {
  launch(work.host);
  add(category, CollectiveKind::all_reduce, work.device.parameter, work.device.time.value);
}

void BlockClock::collective(const LayerCollective& collective) {
  launch(writer_.host_time("collective_launch_seconds", 1));
  collective_without_launch(collective);
}

void BlockClock::collective_without_launch(const LayerCollective& collective) {
  const CollectivePlan plan = writer_.alone(collective);
  add(Category::communication, collective.kind, plan.alpha.parameter, plan.alpha.time.value);
  add(Category::communication, collective.kind, plan.alone.parameter, (plan.alone.time - plan.alpha.time).value);
}

Mixture BlockClock::take() {
  if (parts_.empty()) parts_.push_back({Category::other, CollectiveKind::all_reduce, {}, 0});
  return std::move(parts_);
}

void BlockClock::launch(Duration host) {
  host_ += host.time.value;
  if (host_ > device_) add(Category::launch, CollectiveKind::all_reduce, host.parameter, host_ - device_);
}

void BlockClock::add(Category category, CollectiveKind kind, ParameterId parameter, double seconds) {
  device_ += seconds;
  if (seconds <= 0) return;
  for (Part& part : parts_) {
    if (part.category != category || part.parameter != parameter) continue;
    if (category == Category::communication && part.collective != kind) continue;
    part.seconds += seconds;
    return;
  }
  parts_.push_back({category, kind, parameter, seconds});
}

}  // namespace foretrain::sim::strategies
