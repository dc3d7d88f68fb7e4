// Warnings: what the predictions of a decision warn of, each said once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/prediction.h"

namespace foretrain::reports {

struct SharedWarning {
  std::string text;  // without the part in parentheses where that differs between options
  std::vector<std::size_t> options;  // 0 = the base, i + 1 = alternative i; ascending
};

// In the order in which they first appear.
[[nodiscard]] std::vector<SharedWarning> shared_warnings(const sim::Decision& decision);

// "0–4, 6".
[[nodiscard]] std::string number_ranges(const std::vector<std::size_t>& numbers);

}  // namespace foretrain::reports
