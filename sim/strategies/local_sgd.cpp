#include "sim/strategies/local_sgd.h"

#include "models/precision.h"
#include "sim/strategies/buckets.h"

namespace foretrain::sim::strategies {

LocalSgdReducer::LocalSgdReducer(StepWriter& writer) : writer_(writer), exchange_(writer, writer.host()) {
  for (const ReadyGradient& tensor : ready_order(writer.rank_model(), writer.input().scenario.plan)) {
    bytes_ += tensor.elements * models::activation_bytes(models::Precision::fp32);
  }
}

ActivityIndex LocalSgdReducer::pass(const char* name, ActivityIndex after) {
  const calibrate::OperatorTime time = writer_.clock().memory_pass(Bytes(2 * bytes_));
  writer_.explain(name, "all_reduce", time.duration, time.formula, 1);
  return writer_.work({name, time.duration, writer_.host_time("host_seconds_per_launch_forward", 1)}, Category::other,
                      {after});
}

void LocalSgdReducer::after_last_update(ActivityIndex updated) {
  if (bytes_ == 0) return;
  const ActivityIndex flat = pass("copy parameters into one buffer", updated);
  const ActivityIndex summed = exchange_.average("parameters", Bytes(bytes_), {flat});
  pass("copy parameters back", pass("divide parameters", summed));
}

}  // namespace foretrain::sim::strategies
