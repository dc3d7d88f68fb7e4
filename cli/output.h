// Output: which form of a result goes where.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"

namespace foretrain::cli {

// Each writes one form of the same result; called only when it is wanted.
struct Forms {
  std::function<std::string()> text, json, csv, markdown;
  std::function<std::string()> trace = {};
};

// Called before any work: throws Error when two outputs go to one place, when one would overwrite the
// scenario, or when one cannot be written.
void check_outputs(const Arguments& arguments);

// Files first, then stdout: text, unless --quiet or unless one of the forms goes to "-".
void deliver(const Arguments& arguments, const Forms& forms);

// True when people will read the result's text, and so its warnings.
[[nodiscard]] bool text_is_shown(const Arguments& arguments);

// "foretrain: note: …" on stderr, unless --quiet.
void note(const Arguments& arguments, const std::string& text);
// "foretrain: warning: …" likewise, for results whose text is not shown.
void warn_all(const Arguments& arguments, const std::vector<std::string>& warnings);

// The exit code of --require: says on stderr what was not met (also with --quiet: it was asked for).
[[nodiscard]] ExitCode report_gate(const std::vector<std::string>& unmet);

}  // namespace foretrain::cli
