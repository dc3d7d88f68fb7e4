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
  std::string sharding = "none";  // of state over data-parallel ranks, unless the plan says another: "zero3"
  std::string description;
  // By stack_keys(): all are present, stated in the file or in the one it is `like`.
  std::map<std::string, StackValue> values;

  // `key` is one of stack_keys().
  [[nodiscard]] const StackValue& at(const std::string& key) const;
};

// What a value may be, whoever states it: a switch is 0 or 1, a number of things is whole.
struct StackRange {
  double low = 0, high = 0;
  bool whole = false;
  bool above_low = false;  // low itself is not allowed
  [[nodiscard]] bool contains(double value) const;
  [[nodiscard]] std::string words() const;  // "a number from 0 to 1"
};
[[nodiscard]] const StackRange& stack_range(const std::string& key);

// Every key of Stack::values.
[[nodiscard]] const std::vector<std::string>& stack_keys();

}  // namespace foretrain::calibrate
