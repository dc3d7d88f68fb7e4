// Critical kinds: what kind of work the critical path of a step is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/job.h"
#include "sim/prediction.h"
#include "sim/timeline.h"

namespace foretrain::sim::studies {

struct CriticalKinds {
  std::map<Bottleneck, double> seconds;                          // they sum to the step, up to waiting at its start
  std::map<Bottleneck, std::map<std::string, double>> by_label;  // of the same path, by kind and activity label
  // Of the computation in activities that stand for many (whose label says nothing), by parameter; of communication, by
  // what it is for: "gradient exchange", "parameter gathering", "tensor parallelism", "pipeline transfers", …
  std::map<std::uint32_t, double> mixed_by_parameter;
  std::map<std::string, double> communication_by_purpose;
};

// Walks back from the end of the longest step over released_by.
[[nodiscard]] CriticalKinds critical_kinds(const Job& job, const Timeline& timeline);

}  // namespace foretrain::sim::studies
