// Golden files: expected output kept beside the tests.
//
// With FORETRAIN_UPDATE_GOLDEN set the files are written instead of compared; the difference is then
// reviewed like any other change.
#pragma once

#include <string>

namespace foretrain::reports::test {

// Fails the running test when `text` is not the content of golden/`name`.
void check_golden(const std::string& name, const std::string& text);

}  // namespace foretrain::reports::test
