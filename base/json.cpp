#include "base/json.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace foretrain {

namespace {

constexpr double unbounded = 1e308;  // NumberRange's default ends

std::string describe(const Json& value) {
  constexpr std::size_t longest_shown = 60;
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "an array";
    case Json::value_t::string:
      return fmt::format("the string \"{}\"", printable(value.get_ref<const std::string&>(), longest_shown));
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return "the number " + value.dump();
    default: return "nothing";
  }
}

std::string describe(const NumberRange& range) {
  const bool has_low = range.low > -unbounded;
  const bool has_high = range.high < unbounded;
  if (has_low && range.above) {
    return fmt::format("a number above {}", range.low) + (has_high ? fmt::format(" and at most {}", range.high) : "");
  }
  if (has_low && has_high) return fmt::format("a number from {} to {}", range.low, range.high);
  if (has_low) return fmt::format("a number of at least {}", range.low);
  if (has_high) return fmt::format("a number of at most {}", range.high);
  return "a number";
}

std::string describe_integers(std::int64_t low, std::int64_t high) {
  const bool has_low = low > std::numeric_limits<std::int64_t>::min();
  const bool has_high = high < std::numeric_limits<std::int64_t>::max();
  if (has_low && has_high) return fmt::format("an integer from {} to {}", low, high);
  if (has_low) return fmt::format("an integer of at least {}", low);
  if (has_high) return fmt::format("an integer of at most {}", high);
  return "an integer";
}

std::string found(const std::string& expected, const Json& value) {
  return fmt::format("expected {}, found {}", expected, describe(value));
}

// The value as a whole number, if it is one: 5e6 is, 3.7 and 1e19 are not.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  constexpr double largest_exact = 0x1.0p53;  // above it a double does not tell neighbours apart
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) > largest_exact) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

}  // namespace

JsonView::JsonView(const Json& value, std::string source, std::string pointer)
    : value_(&value), source_(std::move(source)), pointer_(std::move(pointer)) {}

std::string JsonView::where() const {
  return pointer_.empty() ? printable(source_) : printable(source_) + ": " + printable(pointer_);
}

bool JsonView::is_object() const { return value_->is_object(); }
bool JsonView::is_array() const { return value_->is_array(); }
bool JsonView::is_string() const { return value_->is_string(); }
bool JsonView::is_number() const { return value_->is_number(); }
bool JsonView::is_boolean() const { return value_->is_boolean(); }

JsonView JsonView::at(std::string_view key) const {
  if (auto member = find(key)) return *member;
  fail(fmt::format("the key {} is missing", quoted(key)), nearest(key, keys()) ? name_hint(key, keys()) : "");
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!is_object()) fail(found("an object", *value_));
  const auto member = value_->find(std::string(key));
  if (member == value_->end()) return std::nullopt;
  return JsonView(*member, source_, pointer_ + '/' + pointer_token(key));
}

std::vector<std::string> JsonView::keys() const {
  if (!is_object()) fail(found("an object", *value_));
  std::vector<std::string> names;
  names.reserve(value_->size());
  for (auto it = value_->begin(); it != value_->end(); ++it) names.push_back(it.key());
  return names;
}

std::vector<JsonView> JsonView::items() const {
  if (!is_array()) fail(found("an array", *value_));
  std::vector<JsonView> views;
  views.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    views.push_back(JsonView((*value_)[i], source_, fmt::format("{}/{}", pointer_, i)));
  }
  return views;
}

void JsonView::allow_only(const std::vector<std::string>& allowed) const {
  for (const std::string& key : keys()) {
    bool known = false;
    for (const std::string& name : allowed) known = known || name == key;
    if (!known) at(key).fail("unknown key " + quoted(key), name_hint(key, allowed));
  }
}

double JsonView::number(NumberRange range) const {
  if (!is_number()) fail(found(describe(range), *value_));
  const auto value = value_->get<double>();
  const bool high_enough = range.above ? value > range.low : value >= range.low;
  if (!high_enough || !(value <= range.high)) fail(found(describe(range), *value_));
  return value;
}

std::int64_t JsonView::integer(std::int64_t low, std::int64_t high) const {
  const auto value = whole_number(*value_);
  if (!value || *value < low || *value > high) fail(found(describe_integers(low, high), *value_));
  return *value;
}

bool JsonView::boolean() const {
  if (!is_boolean()) fail(found("true or false", *value_));
  return value_->get<bool>();
}

std::string JsonView::string() const {
  if (!is_string()) fail(found("a string", *value_));
  return value_->get<std::string>();
}

std::string JsonView::one_of(const std::vector<std::string>& allowed) const {
  if (!is_string()) fail(found("a string", *value_), name_hint("", allowed));
  std::string word = string();
  for (const std::string& name : allowed) {
    if (name == word) return word;
  }
  std::string hint = name_hint("", allowed);
  if (const auto near = nearest(word, allowed)) hint = fmt::format("did you mean {}? {}", quoted(*near), hint);
  fail("unknown value " + quoted(word), hint);
}

void JsonView::fail(const std::string& what, const std::string& hint) const { throw Error(what, where(), hint); }

}  // namespace foretrain
