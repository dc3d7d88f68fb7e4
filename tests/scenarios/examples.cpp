#include "tests/scenarios/examples.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/catch.h"

namespace foretrain::scenarios {

const calibrate::Catalogue& catalogue() {
  static const calibrate::Catalogue shipped{DataStore()};
  return shipped;
}

std::vector<std::string> example_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRAIN_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string example_text() { return read_file(FORETRAIN_SOURCE_DIR "/scenarios/examples/handwriting-azure.json"); }

std::string small_scenario(const std::string& training, const std::string& more) {
  return R"({"foretrain": 1, "model": {"zoo": "resnet50"}, "training": {"micro_batch": 64)" + training +
         R"(}, "cluster": {"machine": "DGX A100", "gpus": 8})" + more + "}";
}

sim::Question read(const std::string& text, const std::vector<std::string>& set) {
  std::vector<Assignment> assignments;
  for (const std::string& assignment : set) assignments.push_back(parse_assignment(assignment, "--set"));
  return read_question(text, "s.json", assignments, FORETRAIN_SOURCE_DIR "/tests/scenarios", catalogue());
}

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error("no error");
}

Error read_error(const std::string& text, const std::vector<std::string>& set) {
  INFO(text.substr(0, 2000));
  return error_of([&] { static_cast<void>(read(text, set)); });
}

}  // namespace foretrain::scenarios
