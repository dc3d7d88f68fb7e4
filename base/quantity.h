// Quantity: a number with its interval, unit and origin. Every number that foretrain answers is one.
#pragma once

#include <string>

namespace foretrain {

struct Quantity {
  double value = 0.0;
  double low = 0.0;   // 5 % quantile
  double high = 0.0;  // 95 % quantile
  std::string unit;   // "s", "samples/s", "bytes", "usd", "kWh", "1"
  std::string provenance;
  bool known = true;  // false: e.g. a cost without a price; written as "unknown", never as zero
};

}  // namespace foretrain
