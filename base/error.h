// Error: the one thing foretrain throws.
//
// Every problem that a user can cause or must know of is an Error with three parts: what is wrong,
// where (file, JSON pointer, line and column, or an option), and a hint (allowed values, the nearest
// name, the next step). Only cli/main.cpp catches it and turns it into text and an exit code. Our own
// bugs are asserts, never Errors.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace foretrain {

// The process's exit codes (docs/exit-codes in the README; part of the contract).
enum class ExitCode { done = 0, failed = 1, usage = 2, gate_not_met = 3, no_gpu = 4, interrupted = 130 };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, std::string where = {}, std::string hint = {},
                 ExitCode code = ExitCode::usage)
      : std::runtime_error(what), where_(std::move(where)), hint_(std::move(hint)), code_(code) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  std::string where_;
  std::string hint_;
  ExitCode code_;
};

}  // namespace foretrain
