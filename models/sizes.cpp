#include "models/sizes.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::models {
namespace {

constexpr std::size_t longest_list = 1000;

std::string place(const std::string& where, const std::string& key) {
  return where.empty() ? "model." + printable(key) : fmt::format("{}/{}", where, printable(key));
}

}  // namespace

Sizes::Sizes(JsonView file, const std::map<std::string, double>& overrides, std::string where)
    : file_(std::move(file)), overrides_(overrides), where_(std::move(where)) {
  std::vector<std::string> numbers;
  for (const std::string& key : file_.keys()) {
    if (file_.at(key).is_number()) numbers.push_back(key);
  }
  for (const auto& [key, value] : overrides_) {
    const auto size = file_.find(key);
    if (!size) {
      throw Error(fmt::format("this model has no size {}", quoted(key)), place(where_, key),
                  name_hint(key, numbers, 40));
    }
    if (!size->is_number()) {
      throw Error(fmt::format("the size {} is a list and can only be changed in a zoo file", quoted(key)),
                  place(where_, key), "copy the zoo entry into DIR/zoo/NAME.json, change it, and use --data DIR");
    }
  }
}

std::int64_t Sizes::integer(const std::string& key, std::int64_t low, std::int64_t high) const {
  const auto overridden = overrides_.find(key);
  if (overridden == overrides_.end()) return file_.at(key).integer(low, high);
  const double value = overridden->second;
  const bool whole = std::trunc(value) == value;
  if (!whole || value < static_cast<double>(low) || value > static_cast<double>(high)) {
    fail({key}, fmt::format("expected an integer from {} to {}, found {}", low, high, value));
  }
  return static_cast<std::int64_t>(value);
}

bool Sizes::flag(const std::string& key) const { return integer(key, 0, 1) == 1; }

std::int64_t Sizes::later_integer(const std::string& key, std::int64_t low, std::int64_t high) const {
  return file_.find(key) ? integer(key, low, high) : 0;
}

bool Sizes::later_flag(const std::string& key) const { return later_integer(key, 0, 1) == 1; }

std::vector<std::int64_t> Sizes::list(const std::string& key, std::int64_t low, std::int64_t high) const {
  const JsonView view = file_.at(key);
  const std::vector<JsonView> items = view.items();
  if (items.empty() || items.size() > longest_list) {
    view.fail(fmt::format("expected a list of 1 to {} integers, found {}", longest_list, items.size()));
  }
  std::vector<std::int64_t> values;
  values.reserve(items.size());
  for (const JsonView& item : items) values.push_back(item.integer(low, high));
  return values;
}

void Sizes::fail(const std::vector<std::string>& keys, const std::string& what, const std::string& hint) const {
  for (const std::string& key : keys) {
    if (overrides_.count(key) > 0) throw Error(what, place(where_, key), hint);
  }
  file_.at(keys.front()).fail(what, hint);
}

}  // namespace foretrain::models
