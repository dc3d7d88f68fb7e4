// JSON with messages a person can act on.
//
// parse_json reads RFC 8259 text plus // and /* */ comments and refuses what would silently change a
// meaning: duplicate keys, null, numbers that overflow or are denormal, text that is not UTF-8, and
// nesting deeper than 64. A JsonView is a value together with the file it came from and its JSON
// pointer, so every getter can say where and what; getters check type and range, never convert
// silently (3.7 is no integer, -1 no count), and unknown keys are reported with the nearest known one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace foretrain {

using Json = nlohmann::ordered_json;

// Parses `text`; `source` names it in messages ("scenario.json", "--set"). Throws Error with
// "source:line:column" in where().
[[nodiscard]] Json parse_json(std::string_view text, const std::string& source);

// A range of allowed numbers, inclusive; `above` excludes the lower end.
struct NumberRange {
  double low = -1e308;
  double high = 1e308;
  bool above = false;
};

class JsonView {
 public:
  JsonView(const Json& value, std::string source, std::string pointer = "");

  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  // "scenario.json: /training/micro_batch" (the place as every message shows it).
  [[nodiscard]] std::string where() const;

  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_boolean() const;

  // Members. at() throws when the key is missing; find() returns nothing then.
  [[nodiscard]] JsonView at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonView> find(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::vector<JsonView> items() const;  // of an array; throws for anything else
  // Throws for any key that is not in `allowed`, suggesting the nearest.
  void allow_only(const std::vector<std::string>& allowed) const;

  // Checked leaves.
  [[nodiscard]] double number(NumberRange range = {}) const;
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string string() const;
  // A string out of `allowed`; the message lists them and suggests the nearest.
  [[nodiscard]] std::string one_of(const std::vector<std::string>& allowed) const;

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;

 private:
  const Json* value_;
  std::string source_;
  std::string pointer_;
};

}  // namespace foretrain
