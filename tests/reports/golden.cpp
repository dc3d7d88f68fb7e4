#include "tests/reports/golden.h"

#include <cstdlib>

#include "base/files.h"
#include "tests/catch.h"

namespace foretrain::reports::test {

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(FORETRAIN_GOLDEN_DIRECTORY) + "/" + name;
  if (std::getenv("FORETRAIN_UPDATE_GOLDEN") != nullptr) {
    write_file(path, text);
    WARN("wrote " << path);
    return;
  }
  INFO("golden file: " << name << " (FORETRAIN_UPDATE_GOLDEN=1 rewrites it)");
  CHECK(text == read_file(path));
}

}  // namespace foretrain::reports::test
