#include "sim/plan_names.h"

namespace foretrain::sim {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {"none",        "gpipe", "1f1b",  "interleaved",
                                                 "zero-bubble", "zb-h1", "zb-h2", "zb-v"};
  return names;
}

const std::vector<std::string>& sharding_names() {
  static const std::vector<std::string> names = {"none", "zero1", "zero2", "zero3", "hsdp"};
  return names;
}

}  // namespace foretrain::sim
