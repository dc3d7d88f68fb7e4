// Validate Markdown: the sections of a validation.
#pragma once

#include <string>

#include "sim/validation.h"

namespace foretrain::reports {

// Everything between the title and the footer.
[[nodiscard]] std::string validation_markdown(const sim::Validation& validation);

}  // namespace foretrain::reports
