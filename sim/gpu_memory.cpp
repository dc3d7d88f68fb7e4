#include "sim/gpu_memory.h"

#include "sim/strategies/plan_memory.h"

namespace foretrain::sim {

Bytes gpu_memory(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack,
                 const Cluster& cluster) {
  return strategies::plan_memory(model, scenario, stack, cluster).of_fullest().total();
}

}  // namespace foretrain::sim
