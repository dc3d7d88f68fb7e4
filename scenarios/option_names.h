// Option names: what an alternative is called, "2 × Standard_NC96ads_A100_v4 (8 GPUs), micro-batch 256".
#pragma once

#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "scenarios/changes.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// Machines counted: "2 × DGX H100 (16 GPUs)", "1 × DGX H100 (1 of 8 GPUs)".
[[nodiscard]] std::string cluster_name(const sim::ClusterChoice& cluster, const calibrate::Catalogue& catalogue);

// The cluster, then whatever else the option changes or its GPU count entails.
[[nodiscard]] std::string option_name(const sim::Scenario& base, const sim::Scenario& option,
                                      const std::vector<Change>& changes, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::scenarios
