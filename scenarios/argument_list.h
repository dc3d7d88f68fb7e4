// Argument list: what a training program was called with, by name, each value with the line it came from.
//
// Names have underscores ("num_layers"), as Megatron-LM prints them. A launch script and a log both become one; who
// reads it asks for arguments by name, and what nobody asked for is left over, to be counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace foretrain::scenarios {

struct ArgumentValue {
  std::string text;     // "None" and "" are no value
  int line = 0;
  std::string problem;  // why the text is not what the program got ("$TP has no plain value"); empty = it is
};

class ArgumentList {
 public:
  // `source` names the file in messages. `from_log`: every argument has a line, also those that nobody gave.
  ArgumentList(std::string source, bool from_log) : source_(std::move(source)), from_log_(from_log) {}

  // Throws Error when there are more than 100,000 arguments, or a different value is there already.
  void add(const std::string& name, ArgumentValue value);

  [[nodiscard]] bool from_log() const { return from_log_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) > 0; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }

  // The value of the first of `names` that has one. Each throws Error for a value with a problem or of another kind.
  [[nodiscard]] std::optional<std::string> text(const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const std::vector<std::string>& names, std::int64_t low,
                                                    std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<bool> flag(const std::vector<std::string>& names) const;
  [[nodiscard]] bool is_set(const std::vector<std::string>& names) const;  // one of them is

  // The same where it is a plain whole number above 0; nothing else, and no error.
  [[nodiscard]] std::optional<std::int64_t> count(const std::vector<std::string>& names) const;

  // Says that `names` were looked at, whatever they say.
  void mark(const std::vector<std::string>& names) const { asked_.insert(names.begin(), names.end()); }
  // Names that nobody asked for, in alphabetical order.
  [[nodiscard]] std::vector<std::string> left_over() const;

  // About the argument `name`, or about the file when it has no such argument.
  [[noreturn]] void fail(const std::string& name, const std::string& what, const std::string& hint = "") const;

 private:
  [[nodiscard]] std::optional<std::string> found(const std::vector<std::string>& names, std::string& name) const;

  std::string source_;
  bool from_log_;
  std::map<std::string, ArgumentValue> values_;
  mutable std::set<std::string> asked_;
};

// "num_layers" as it is written: "--num-layers" in a script, "num_layers" in a log.
[[nodiscard]] std::string shown_argument(const std::string& name, bool from_log);

}  // namespace foretrain::scenarios
