// HuggingFaceConfig: the keys of one configuration, read with the family's name at hand for messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace foretrain::models {

// A key, or several for the same thing (older files), the usual one first.
using ConfigKeys = std::vector<std::string>;

class HuggingFaceConfig {
 public:
  // `expected`: the keys that every file of `family` has, for messages.
  HuggingFaceConfig(JsonView view, std::string family, std::vector<std::string> expected);

  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] bool has(const std::string& key) const;
  // A whole number from 1 to `high`. Without it: an Error that lists what is expected and suggests the nearest key.
  [[nodiscard]] std::int64_t size(const ConfigKeys& keys, std::int64_t high) const;
  [[nodiscard]] std::int64_t size_or(const ConfigKeys& keys, std::int64_t otherwise, std::int64_t high) const;
  [[nodiscard]] bool flag_or(const std::string& key, bool otherwise) const;
  [[nodiscard]] std::string word_or(const std::string& key, const std::string& otherwise) const;
  // Whether any of these dropout rates is above zero; a missing one is `otherwise`.
  [[nodiscard]] bool dropout(const ConfigKeys& rates, double otherwise) const;
  // Entries of the table id2label, else num_labels, else two (the class's default).
  [[nodiscard]] std::int64_t labels(std::int64_t high) const;

  [[noreturn]] void fail(const std::string& key, const std::string& what, const std::string& hint = "") const;

 private:
  [[nodiscard]] std::string present(const ConfigKeys& keys) const;  // empty = none of them

  JsonView view_;
  std::string family_;
  std::vector<std::string> expected_;
};

// Whether `object` has the key with a value other than null (which without_nulls made an empty list).
[[nodiscard]] bool has_value(const JsonView& object, const std::string& key);

// The text with every null outside of strings replaced by an empty list of the same length, since parse_json takes no
// null and places in messages should stay.
[[nodiscard]] std::string without_nulls(std::string text);

}  // namespace foretrain::models
