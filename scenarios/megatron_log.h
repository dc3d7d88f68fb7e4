// Megatron log: the block of arguments that rank 0 prints, and how long its iterations took.
//
// The block begins with "---- arguments ----" and has one resolved argument per line, "name ....... value", as
// megatron/training/arguments.py prints it; iterations follow as "iteration 20/ 1000 | … elapsed time per iteration
// (ms): 1354.9 | …". Launchers' prefixes ("[default0]:", "0: ") and lines of other kinds are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/argument_list.h"

namespace foretrain::scenarios {

[[nodiscard]] bool is_megatron_log(std::string_view text);

struct LoggedIteration {
  double seconds = 0;
  std::int64_t global_batch = 0;  // 0 = the line does not say
};

struct MegatronLog {
  ArgumentList arguments;
  std::vector<LoggedIteration> iterations;  // one per line, which may stand for several
};
// Throws Error when the block ends before it says anything.
[[nodiscard]] MegatronLog read_megatron_log(std::string_view text, const std::string& source);

// The median step of the last global batch without the first lines (a tenth of them, at least one), which hold warm-up;
// `lines` is over how many. No seconds when nothing is left.
struct LoggedStep {
  double seconds = 0;
  std::size_t lines = 0;
};
[[nodiscard]] LoggedStep usual_step(const std::vector<LoggedIteration>& iterations);

}  // namespace foretrain::scenarios
