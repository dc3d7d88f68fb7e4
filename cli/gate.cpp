#include "cli/gate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace foretrain::cli {

std::vector<std::string> gate_requirements(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonView gate(json, source);
  std::vector<std::string> requirements;
  for (const std::string& key : gate.keys()) {
    const JsonView bar = gate.at(key);
    if (key.find_first_of("<>=") != std::string::npos) bar.fail("no score has <, > or = in its name");
    bar.allow_only({"min", "max"});
    if (const auto least = bar.find("min")) requirements.push_back(fmt::format("{}>={}", key, least->number()));
    if (const auto most = bar.find("max")) requirements.push_back(fmt::format("{}<={}", key, most->number()));
    if (bar.keys().empty()) bar.fail("a bar without min and max holds nothing");
  }
  if (requirements.empty()) gate.fail("there are no bars", R"(such as {"overall.mape": {"max": 0.08}})");
  return requirements;
}

}  // namespace foretrain::cli
