#include "kernels/arguments.h"

namespace foretrain::kernels {

Arguments parse_arguments(const std::vector<std::string>& words) {
  if (words.empty()) return {Action::report_devices, ""};
  const std::string& first = words.front();
  const bool is_help = first == "--help" || first == "-h";
  const bool is_version = first == "--version";
  if (words.size() == 1 && is_help) return {Action::help, ""};
  if (words.size() == 1 && is_version) return {Action::version, ""};
  std::string shown;
  for (const char c : is_help || is_version ? words[1] : first) shown += c >= ' ' && c <= '~' ? c : '?';
  return {Action::bad_usage, "unexpected argument \"" + shown + "\"; see foretrain-measure --help"};
}

std::string help_text() {
  return R"(foretrain-measure reports the CUDA devices of this machine, for foretrain to calibrate against.

Usage:
  foretrain-measure            one JSON object per line on stdout: the software, then each device
  foretrain-measure --help     this text
  foretrain-measure --version  its version

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 no GPU that can be used.
)";
}

std::string version_text() { return "foretrain-measure " FORETRAIN_VERSION "\n"; }

}  // namespace foretrain::kernels
