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
  // By stack_keys(): all are present, stated in the file or in the one it is `like`.
  std::map<std::string, StackValue> values;

  // `key` is one of stack_keys().
  [[nodiscard]] const StackValue& at(const std::string& key) const;
};

// Every key of Stack::values, in the order above.
[[nodiscard]] const std::vector<std::string>& stack_keys();

}  // namespace foretrain::calibrate
