// foretrain-measure: what the GPUs of this machine are. Answers on stdout, everything else on stderr.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/arguments.h"
#include "kernels/devices.h"

namespace {

using foretrain::ExitCode;

ExitCode complain(const std::string& sentence, ExitCode code) {
  std::fprintf(stderr, "foretrain-measure: %s\n", sentence.c_str());
  return code;
}

ExitCode print(const std::string& text) {
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return written ? ExitCode::done : complain("standard output cannot be written", ExitCode::failed);
}

ExitCode report_devices() {
  const foretrain::kernels::DeviceCount count = foretrain::kernels::count_devices();
  if (count.devices == 0) return complain(count.problem, ExitCode::no_gpu);
  // All lines are collected first: a failure leaves stdout empty.
  std::string lines = foretrain::kernels::software_line();
  for (int index = 0; index < count.devices; ++index) lines += foretrain::kernels::device_line(index);
  return print(lines);
}

ExitCode run(const std::vector<std::string>& words) {
  using foretrain::kernels::Action;
  const foretrain::kernels::Arguments arguments = foretrain::kernels::parse_arguments(words);
  switch (arguments.action) {
    case Action::help: return print(foretrain::kernels::help_text());
    case Action::version: return print(foretrain::kernels::version_text());
    case Action::report_devices: return report_devices();
    case Action::bad_usage: break;
  }
  return complain(arguments.problem, ExitCode::usage);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
  } catch (const std::exception& error) {
    return static_cast<int>(complain(error.what(), ExitCode::failed));
  }
}
