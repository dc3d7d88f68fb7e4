// Input load: how long the input pipeline takes to make the samples of one step.
#pragma once

#include <optional>
#include <string>

#include "base/parameter.h"
#include "sim/cluster.h"
#include "sim/scenario.h"
#include "sim/strategies/batches.h"

namespace foretrain::sim::strategies {

struct InputLoad {
  Duration duration;  // of the slower of loading and reading
  std::string formula;
};

// Two limits work beside one another (prefetching): each node decodes samples_per_s_per_node (or _per_vcpu times its
// vCPUs) for the GPUs it has in use, and all nodes read dataset_bytes / dataset_samples per sample from one
// storage. Empty when neither is stated. Throws Error when the other half of a statement is missing.
[[nodiscard]] std::optional<InputLoad> input_load(const Scenario& scenario, const Cluster& cluster,
                                                  const Batches& batches, ParameterTable& parameters);

// Samples per second that `nodes` nodes of the cluster can load together; empty = not limited.
[[nodiscard]] std::optional<double> input_samples_per_second(const Scenario& scenario, const Cluster& cluster,
                                                             int nodes);

}  // namespace foretrain::sim::strategies
