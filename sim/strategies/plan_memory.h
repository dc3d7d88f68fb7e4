// Plan memory: what the GPUs of each pipeline stage hold during a step of any plan, in closed form.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/stack.h"
#include "models/model.h"
#include "sim/cluster.h"
#include "sim/memory.h"
#include "sim/scenario.h"

namespace foretrain::sim::strategies {

struct PlanMemory {
  std::vector<MemoryParts> stages;
  std::size_t fullest = 0;
};

[[nodiscard]] PlanMemory plan_memory(const models::Model& model, const Scenario& scenario,
                                     const calibrate::Stack& stack, const Cluster& cluster);

}  // namespace foretrain::sim::strategies
