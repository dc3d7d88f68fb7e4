// Sections: the parts that several text reports share.
#pragma once

#include <string>

#include "reports/result.h"
#include "reports/style.h"

namespace foretrain::reports {

// Each opens with an empty line and a heading, or is empty when there is nothing to say.
[[nodiscard]] std::string breakdown_section(const std::string& title, const sim::Prediction& prediction,
                                            const Style& style);
[[nodiscard]] std::string memory_section(const sim::Prediction& prediction, const Style& style);
[[nodiscard]] std::string money_section(const sim::Scenario& scenario, const sim::Prediction& prediction,
                                        const Style& style);
// The uncertain numbers that the step rests on, largest effect first (0 = all). With `sources`, each row is
// followed by where the number comes from.
[[nodiscard]] std::string parameter_section(const sim::Prediction& prediction, std::size_t top, bool sources,
                                            const Style& style);
[[nodiscard]] std::string warning_section(const std::vector<std::string>& warnings, const Style& style);

}  // namespace foretrain::reports
