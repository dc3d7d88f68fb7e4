// Stack: what a training framework does around the mathematics.
//
// From calibrate/stacks/*.json: host cost per launch, what is fused, how gradients are bucketed and
// overlapped, which bytes travel, what is fixed per step. A scenario's stack.options override by key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"

namespace foretrain::calibrate {

struct StackValue {
  double value = 0;
  double relative_spread = 0;
  Provenance provenance = Provenance::assumed;
  std::string source;
  std::string unit, doc;
};

struct Stack {
  std::string name;         // "pytorch-ddp"
  std::string reducer;      // "ddp"
  std::string description;
  // Keys (all present in every file; see docs): host_seconds_per_launch_forward,
  // host_seconds_per_launch_backward, host_seconds_per_step, first_bucket_bytes, bucket_bytes,
  // gradient_bytes_per_parameter, overlap (0/1), compute_slowdown_while_communicating,
  // distributed_compute_slowdown, collective_launch_seconds, step_jitter, distributed_host_seconds_per_step,
  // fused_attention (0/1), fused_optimizer (0/1), framework_memory_bytes, fragmentation_fraction,
  // unmodelled_spread
  std::map<std::string, StackValue> values;

  // `key` is one of stack_keys().
  [[nodiscard]] const StackValue& at(const std::string& key) const;
};

// Every key of Stack::values, in the order above.
[[nodiscard]] const std::vector<std::string>& stack_keys();

}  // namespace foretrain::calibrate
