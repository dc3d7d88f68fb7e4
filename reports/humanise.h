// Humanise: quantities as people read them: "312 ms [280–350]", "11.2 GiB", "13.1× [12.4–13.6]".
//
// The interval is the 90 % interval of the quantity, in the unit of the value; it is left out where both
// ends are the value (a price). A quantity that is not known reads "unknown". Times are s, ms, µs, min, h;
// sizes binary; money in dollars.
#pragma once

#include <string>

#include "base/quantity.h"

namespace foretrain::reports {

// The value alone.
[[nodiscard]] std::string value_text(const Quantity& quantity);
// Value and interval.
[[nodiscard]] std::string interval_text(const Quantity& quantity);

// A quantity of unit "1" as a factor ("13.1×") or a share ("82 %"), value and interval.
[[nodiscard]] std::string factor_text(const Quantity& quantity);
[[nodiscard]] std::string share_text(const Quantity& quantity);

// A probability, never as certainty: "62 %", "> 99 %", "< 1 %".
[[nodiscard]] std::string odds_text(double probability);

// A plain number in `unit`, scaled the same way.
[[nodiscard]] std::string number_text(double value, const std::string& unit);

}  // namespace foretrain::reports
