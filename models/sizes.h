// Sizes: the numbers a builder makes a model from, of a zoo file and what the user overrides.
//
// Every size is read through a getter that knows its range, before anything is allocated or looped
// over; a message names the zoo file or, for an overridden size, the user's input.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace foretrain::models {

class Sizes {
 public:
  // `overrides` by key, from `where` in the user's input. Throws Error for a key that `file` lacks.
  Sizes(JsonView file, const std::map<std::string, double>& overrides, std::string where);

  // A whole number in [low, high].
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high) const;
  // 0 (no) or 1 (yes).
  [[nodiscard]] bool flag(const std::string& key) const;
  // The same of sizes that files from before they existed lack: 0, no.
  [[nodiscard]] std::int64_t later_integer(const std::string& key, std::int64_t low, std::int64_t high) const;
  [[nodiscard]] bool later_flag(const std::string& key) const;
  // A list of whole numbers in [low, high], at least one; lists come from the file only.
  [[nodiscard]] std::vector<std::int64_t> list(const std::string& key, std::int64_t low, std::int64_t high) const;
  // Throws for a key of the file that is not in `known` (a builder's own).
  void allow_only(const std::vector<std::string>& known) const { file_.allow_only(known); }
  // Throws an Error about sizes that do not go together. It stands at the first of `keys` that the user
  // overrode, else at the first in the file.
  [[noreturn]] void fail(const std::vector<std::string>& keys, const std::string& what,
                         const std::string& hint = "") const;

 private:
  JsonView file_;
  const std::map<std::string, double>& overrides_;
  std::string where_;
};

}  // namespace foretrain::models
