// Plan names: the words that a plan may use for schedules and sharding.
#pragma once

#include <string>
#include <vector>

namespace foretrain::sim {

[[nodiscard]] const std::vector<std::string>& schedule_names();
[[nodiscard]] const std::vector<std::string>& sharding_names();  // "none" among them

}  // namespace foretrain::sim
