// The command line of foretrain-measure.
#pragma once

#include <string>
#include <vector>

namespace foretrain::kernels {

enum class Action { report_devices, help, version, bad_usage };

struct Arguments {
  Action action = Action::report_devices;
  std::string problem;  // of bad_usage: what is wrong, in one sentence
};

// `words` are the program's arguments without its name.
[[nodiscard]] Arguments parse_arguments(const std::vector<std::string>& words);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

}  // namespace foretrain::kernels
