// Examples: what the tests of scenarios/ share: the shipped files, a small scenario, and what an error said.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/catalogue.h"
#include "scenarios/reader.h"

namespace foretrain::scenarios {

[[nodiscard]] const calibrate::Catalogue& catalogue();

// Paths of scenarios/examples/*.json, sorted.
[[nodiscard]] std::vector<std::string> example_paths();
[[nodiscard]] std::string example_text();  // of handwriting-azure.json

// ResNet-50 on one DGX A100 with all eight GPUs; `training` and `more` are put into the text as they are:
// {"micro_batch": 64TRAINING}, and MORE before the closing brace.
[[nodiscard]] std::string small_scenario(const std::string& training = "", const std::string& more = "");

// Reads `text` as "s.json" with the given --set texts.
[[nodiscard]] sim::Question read(const std::string& text, const std::vector<std::string>& set = {});

// The error that `action` ends with; fails the test when it ends without one.
[[nodiscard]] Error error_of(const std::function<void()>& action);
[[nodiscard]] Error read_error(const std::string& text, const std::vector<std::string>& set = {});

}  // namespace foretrain::scenarios
