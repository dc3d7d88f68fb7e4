#include "scenarios/argument_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t most_arguments = 100000;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string shown_argument(const std::string& name, bool from_log) {
  if (from_log) return name;
  std::string shown = "--" + name;
  std::replace(shown.begin(), shown.end(), '_', '-');
  return shown;
}

void ArgumentList::add(const std::string& name, ArgumentValue value) {
  if (values_.size() >= most_arguments) {
    throw Error(fmt::format("more than {} arguments", most_arguments), printable(source_));
  }
  const auto [known, is_new] = values_.try_emplace(name, value);
  if (is_new || (known->second.text == value.text && known->second.problem == value.problem)) return;
  if (!known->second.problem.empty()) return;
  // Which of two different values the program got, a reader of the text cannot know.
  known->second.problem = fmt::format("is given twice, {} on line {} and {} on line {}", quoted(known->second.text),
                                      known->second.line, quoted(value.text), value.line);
}

void ArgumentList::fail(const std::string& name, const std::string& what, const std::string& hint) const {
  const auto known = values_.find(name);
  if (known == values_.end()) throw Error(what, printable(source_), hint);
  throw Error(what, fmt::format("{}:{}", printable(source_), known->second.line), hint);
}

std::optional<std::string> ArgumentList::found(const std::vector<std::string>& names, std::string& name) const {
  mark(names);
  for (const std::string& one : names) {
    const auto known = values_.find(one);
    if (known == values_.end()) continue;
    name = one;
    const ArgumentValue& value = known->second;
    if (!value.problem.empty()) {
      fail(one, fmt::format("{} {}", printable(shown_argument(one, from_log_)), value.problem),
           "write plain values, or pass the log of a run: it has all of them resolved");
    }
    if (value.text == "None") continue;
    return value.text;
  }
  return std::nullopt;
}

std::optional<std::string> ArgumentList::text(const std::vector<std::string>& names) const {
  std::string name;
  const auto value = found(names, name);
  if (value && value->empty()) fail(name, shown_argument(name, from_log_) + " has no value");
  return value;
}

std::optional<std::int64_t> ArgumentList::integer(const std::vector<std::string>& names, std::int64_t low,
                                                  std::int64_t high) const {
  std::string name;
  const auto value = found(names, name);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stopped, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc() || stopped != end || number < low || number > high) {
    fail(name, fmt::format("{} of {} is not a whole number from {} to {}", quoted(*value),
                           shown_argument(name, from_log_), low, high));
  }
  return number;
}

std::optional<double> ArgumentList::number(const std::vector<std::string>& names) const {
  std::string name;
  const auto value = found(names, name);
  if (!value) return std::nullopt;
  char* stopped = nullptr;
  const double number = std::strtod(value->c_str(), &stopped);
  if (value->empty() || stopped != value->c_str() + value->size() || !std::isfinite(number)) {
    fail(name, fmt::format("{} of {} is not a number", quoted(*value), shown_argument(name, from_log_)));
  }
  return number;
}

std::optional<bool> ArgumentList::flag(const std::vector<std::string>& names) const {
  std::string name;
  const auto value = found(names, name);
  if (!value) return std::nullopt;
  const std::string text = lower(*value);
  if (text == "true" || text == "1" || text == "yes" || text.empty()) return true;
  if (text == "false" || text == "0" || text == "no") return false;
  fail(name, fmt::format("{} of {} is neither True nor False", quoted(*value), shown_argument(name, from_log_)));
}

bool ArgumentList::is_set(const std::vector<std::string>& names) const {
  bool any = false;
  for (const std::string& name : names) any = flag({name}).value_or(false) || any;
  return any;
}

std::optional<std::int64_t> ArgumentList::count(const std::vector<std::string>& names) const {
  mark(names);
  for (const std::string& name : names) {
    const auto known = values_.find(name);
    if (known == values_.end() || !known->second.problem.empty()) continue;
    const std::string& text = known->second.text;
    std::int64_t number = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && stopped == text.data() + text.size() && number > 0) return number;
  }
  return std::nullopt;
}

std::vector<std::string> ArgumentList::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (asked_.count(name) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace foretrain::scenarios
