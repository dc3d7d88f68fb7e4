#include "models/huggingface_config.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::models {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Just behind the string or comment that begins at `at`, or `at` where none does.
std::size_t skip(const std::string& text, std::size_t at) {
  const auto behind = [&text](std::size_t found, std::size_t length) {
    return found == std::string::npos ? text.size() : found + length;
  };
  if (text.compare(at, 2, "//") == 0) return behind(text.find('\n', at), 1);
  if (text.compare(at, 2, "/*") == 0) return behind(text.find("*/", at + 2), 2);
  if (text[at] != '"') return at;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string without_nulls(std::string text) {
  constexpr std::string_view null = "null", nothing = "[  ]";
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = skip(text, at); behind > at) {
      at = behind;
      continue;
    }
    const bool begins = at == 0 || !in_word(text[at - 1]);
    const std::size_t end = at + null.size();
    if (begins && text.compare(at, null.size(), null) == 0 && (end >= text.size() || !in_word(text[end]))) {
      text.replace(at, null.size(), nothing);
    }
    ++at;
  }
  return text;
}

bool has_value(const JsonView& object, const std::string& key) {
  const auto value = object.find(key);
  return value && !(value->is_array() && value->items().empty());
}

HuggingFaceConfig::HuggingFaceConfig(JsonView view, std::string family, std::vector<std::string> expected)
    : view_(std::move(view)), family_(std::move(family)), expected_(std::move(expected)) {}

bool HuggingFaceConfig::has(const std::string& key) const { return has_value(view_, key); }

std::string HuggingFaceConfig::present(const ConfigKeys& keys) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [this](const std::string& key) { return has(key); });
  return found == keys.end() ? "" : *found;
}

std::int64_t HuggingFaceConfig::size(const ConfigKeys& keys, std::int64_t high) const {
  const std::string key = present(keys);
  if (!key.empty()) return view_.at(key).integer(1, high);
  std::string hint = fmt::format("a configuration of {} has {}", family_, joined(expected_));
  if (const auto near = nearest(keys.front(), view_.keys())) {
    hint = fmt::format("did you mean {}? {}", quoted(*near), hint);
  }
  view_.fail(fmt::format("the key {} is missing", quoted(keys.front())), hint);
}

std::int64_t HuggingFaceConfig::size_or(const ConfigKeys& keys, std::int64_t otherwise, std::int64_t high) const {
  return present(keys).empty() ? otherwise : size(keys, high);
}

bool HuggingFaceConfig::flag_or(const std::string& key, bool otherwise) const {
  return has(key) ? view_.at(key).boolean() : otherwise;
}

std::string HuggingFaceConfig::word_or(const std::string& key, const std::string& otherwise) const {
  return has(key) ? view_.at(key).string() : otherwise;
}

bool HuggingFaceConfig::dropout(const ConfigKeys& rates, double otherwise) const {
  return std::any_of(rates.begin(), rates.end(), [&](const std::string& key) {
    return (has(key) ? view_.at(key).number({0, 1, false}) : otherwise) > 0;
  });
}

std::int64_t HuggingFaceConfig::labels(std::int64_t high) const {
  constexpr std::int64_t by_default = 2;
  if (!has("id2label")) return size_or({"num_labels"}, by_default, high);
  const JsonView table = view_.at("id2label");
  const auto count = static_cast<std::int64_t>(table.keys().size());
  if (count < 1 || count > high) table.fail(fmt::format("expected 1 to {} labels, found {}", high, count));
  return count;
}

void HuggingFaceConfig::fail(const std::string& key, const std::string& what, const std::string& hint) const {
  (view_.find(key) ? view_.at(key) : view_).fail(what, hint);
}

}  // namespace foretrain::models
