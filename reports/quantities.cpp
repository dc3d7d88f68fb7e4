#include "reports/quantities.h"

namespace foretrain::reports {

std::vector<sim::NamedQuantity> flat_quantities(const sim::Prediction& prediction) {
  std::vector<sim::NamedQuantity> all = {{"step_time", prediction.step_time},
                                         {"throughput", prediction.throughput},
                                         {"speedup", prediction.speedup},
                                         {"efficiency", prediction.efficiency}};
  for (const auto& [key, quantity] : prediction.breakdown) all.emplace_back("breakdown." + key, quantity);
  for (const auto& [key, quantity] : prediction.memory.parts) all.emplace_back("memory." + key, quantity);
  all.emplace_back("memory.total", prediction.memory.total);
  all.emplace_back("memory.capacity", prediction.memory.capacity);
  all.emplace_back("cost", prediction.cost);
  all.emplace_back("energy", prediction.energy);
  all.emplace_back("cost_per_hour", prediction.cost_per_hour);
  all.emplace_back("epoch_time", prediction.epoch_time);
  all.emplace_back("run_time", prediction.run_time);
  return all;
}

}  // namespace foretrain::reports
