#include "cli/output.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/terminal.h"

namespace foretrain::cli {

namespace {

struct Target {
  const char* option;
  const std::string& path;
};

std::vector<Target> targets(const Arguments& arguments) {
  std::vector<Target> wanted;
  for (const Target& target : {Target{"--json", arguments.json}, Target{"--csv", arguments.csv},
                               Target{"--md", arguments.markdown}, Target{"--trace", arguments.trace},
                               Target{"--save", arguments.save},
                               Target{"--save-track-record", arguments.track_record},
                               Target{"--save-interval-factors", arguments.interval_factors}}) {
    if (!target.path.empty()) wanted.push_back(target);
  }
  return wanted;
}

// Files that the command reads.
std::vector<std::string> inputs(const Arguments& arguments) {
  std::vector<std::string> paths = arguments.files;
  for (const std::string& path : {arguments.subject, arguments.gate, arguments.quick.model, arguments.quick.megatron,
                                  arguments.quick.deepspeed}) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || (a != "-" && b != "-" && std::filesystem::equivalent(a, b, error) && !error);
}

// Devices take several writers (/dev/null); only regular files would lose one of them.
bool is_device(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
}

bool uses_stdout(const Arguments& arguments) {
  for (const Target& target : targets(arguments)) {
    if (target.path == "-") return true;
  }
  return false;
}

}  // namespace

void check_outputs(const Arguments& arguments) {
  const std::vector<Target> wanted = targets(arguments);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Target& one = wanted[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_place(one.path, wanted[j].path) || is_device(one.path)) continue;
      throw Error(fmt::format("{} and {} cannot both go to {}", wanted[j].option, one.option,
                              one.path == "-" ? "stdout" : quoted(one.path)),
                  one.option, "give one of them another path");
    }
    for (const std::string& input : inputs(arguments)) {
      if (one.path == "-" || !same_place(one.path, input) || is_device(one.path)) continue;
      throw Error(fmt::format("{} would overwrite the input {}", one.option, quoted(one.path)), one.option);
    }
    check_writable(one.path);
  }
}

void deliver(const Arguments& arguments, const Forms& forms) {
  std::vector<std::pair<std::string, std::string>> outputs;
  if (!arguments.json.empty()) outputs.emplace_back(arguments.json, forms.json());
  if (!arguments.csv.empty()) outputs.emplace_back(arguments.csv, forms.csv());
  if (!arguments.markdown.empty()) outputs.emplace_back(arguments.markdown, forms.markdown());
  if (!arguments.trace.empty()) outputs.emplace_back(arguments.trace, forms.trace());
  for (const auto& [path, text] : outputs) {
    if (path != "-") write_file(path, text);
  }
  for (const auto& [path, text] : outputs) {
    if (path == "-") write_file(path, text);
  }
  if (text_is_shown(arguments)) write_file("-", forms.text());
}

bool text_is_shown(const Arguments& arguments) { return !arguments.quiet && !uses_stdout(arguments); }

void note(const Arguments& arguments, const std::string& text) {
  if (!arguments.quiet) fmt::print(stderr, "foretrain: note: {}\n", text);
}

void warn_all(const Arguments& arguments, const std::vector<std::string>& warnings) {
  if (arguments.quiet) return;
  const reports::Style style = stderr_style(arguments.colour);
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "{} {}\n", style.warn("foretrain: warning:"), printable(warning, 1000));
  }
}

ExitCode report_gate(const std::vector<std::string>& unmet) {
  for (const std::string& sentence : unmet) fmt::print(stderr, "foretrain: not met: {}\n", sentence);
  return unmet.empty() ? ExitCode::done : ExitCode::gate_not_met;
}

}  // namespace foretrain::cli
