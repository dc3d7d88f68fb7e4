#include "models/precision.h"

#include <algorithm>
#include <cassert>

namespace foretrain::models {

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> names = {"fp32", "tf32", "fp16", "bf16", "fp8"};
  return names;
}

const char* to_string(Precision precision) { return precision_names()[static_cast<std::size_t>(precision)].c_str(); }

Precision precision_from(const std::string& name) {
  const auto& names = precision_names();
  const auto found = std::find(names.begin(), names.end(), name);
  assert(found != names.end());
  return static_cast<Precision>(found - names.begin());
}

bool is_mixed(Precision precision) { return precision != Precision::fp32 && precision != Precision::tf32; }

double activation_bytes(Precision precision) { return is_mixed(precision) ? 2 : 4; }

}  // namespace foretrain::models
