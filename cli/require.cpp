#include "cli/require.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::cli {

namespace {

struct Requirement {
  std::string text, key, comparison, bound;
};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

Requirement parse(const std::string& text, const std::string& source) {
  const std::size_t at = text.find_first_of("<>=");
  const std::string hint = "write it as 'speedup.value>=3.5' (>=, <=, >, < or ==)";
  if (at == std::string::npos) throw Error(quoted(text) + " compares nothing", source, hint);
  const bool two_letters = at + 1 < text.size() && text[at + 1] == '=';
  const std::string comparison = text.substr(at, two_letters ? 2 : 1);
  const Requirement result{text, trimmed(text.substr(0, at)), comparison, trimmed(text.substr(at + comparison.size()))};
  if (comparison == "=" || result.key.empty() || result.bound.empty()) {
    throw Error(quoted(text) + " is no comparison", source, hint);
  }
  return result;
}

std::optional<double> number_from(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

const Json* element(const Json& list, std::string_view part) {
  std::size_t index = 0;
  const auto [stopped, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  const bool is_index = error == std::errc() && stopped == part.data() + part.size();
  return is_index && index < list.size() ? &list[index] : nullptr;
}

// Names may have dots themselves (a group called after an arXiv number): the shortest part that leads on is taken.
const Json* find(const Json& here, std::string_view key) {
  for (std::size_t dot = key.find('.');; dot = key.find('.', dot + 1)) {
    const std::string part(key.substr(0, dot));
    const Json* next = nullptr;
    if (here.is_object() && here.contains(part)) next = &here[part];
    if (here.is_array()) next = element(here, part);
    if (dot == std::string_view::npos) return next;
    if (next == nullptr) continue;
    if (const Json* found = find(*next, key.substr(dot + 1))) return found;
  }
}

void collect_leaves(const Json& json, const std::string& prefix, std::vector<std::string>& keys) {
  if (!json.is_structured()) {
    keys.push_back(prefix);
    return;
  }
  std::size_t index = 0;
  for (const auto& item : json.items()) {
    const std::string part = json.is_array() ? fmt::format("{}", index++) : item.key();
    collect_leaves(item.value(), prefix.empty() ? part : prefix + "." + part, keys);
  }
}

const Json& value_of(const Requirement& requirement, const Json& result, const std::string& source) {
  const Json* found = find(result, requirement.key);
  if (found == nullptr && result.contains("prediction")) found = find(result["prediction"], requirement.key);
  if (found != nullptr && found->is_object() && found->contains("value")) {
    throw Error(fmt::format("{} is a quantity, not a number", quoted(requirement.key)), source,
                fmt::format("write {0}.value, {0}.low or {0}.high", printable(requirement.key)));
  }
  if (found != nullptr && !found->is_structured()) return *found;
  std::vector<std::string> keys;
  if (result.contains("prediction")) collect_leaves(result["prediction"], "", keys);
  collect_leaves(result, "", keys);
  const auto near = nearest(requirement.key, keys);
  throw Error(fmt::format("the result has no value {}", quoted(requirement.key)), source,
              near ? fmt::format("did you mean {}?", *near) : "--json - shows every key");
}

bool holds(const Requirement& requirement, const Json& value, const std::string& source) {
  const std::optional<double> bound = number_from(requirement.bound);
  if (value.is_number()) {
    if (!bound) throw Error(quoted(requirement.bound) + " is no number", source, requirement.text);
    const double is = value.get<double>();
    if (requirement.comparison == ">=") return is >= *bound;
    if (requirement.comparison == "<=") return is <= *bound;
    if (requirement.comparison == ">") return is > *bound;
    if (requirement.comparison == "<") return is < *bound;
    return is == *bound;
  }
  if (requirement.comparison != "==") {
    throw Error(fmt::format("{} is not a number: only == compares it", quoted(requirement.key)), source);
  }
  if (value.is_boolean()) return requirement.bound == (value.get<bool>() ? "true" : "false");
  return requirement.bound == value.get<std::string>();
}

}  // namespace

void check_requirements(const std::vector<std::string>& requirements) {
  for (const std::string& text : requirements) static_cast<void>(parse(text, "--require"));
}

std::vector<std::string> unmet_requirements(const std::vector<std::string>& requirements, const Json& result,
                                            const std::string& source) {
  std::vector<std::string> unmet;
  for (const std::string& text : requirements) {
    const Requirement requirement = parse(text, source);
    const Json& value = value_of(requirement, result, source);
    if (value.is_null()) {
      unmet.push_back(fmt::format("{} is unknown, required {} {}", printable(requirement.key), requirement.comparison,
                                  printable(requirement.bound)));
    } else if (!holds(requirement, value, source)) {
      const std::string is = value.is_string() ? quoted(value.get<std::string>()) : value.dump();
      unmet.push_back(fmt::format("{} is {}, required {} {}", printable(requirement.key), is, requirement.comparison,
                                  printable(requirement.bound)));
    }
  }
  return unmet;
}

}  // namespace foretrain::cli
