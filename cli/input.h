// Input: the question of predict, decide and explain, from a scenario file or from flags.
#pragma once

#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "cli/arguments.h"
#include "reports/result.h"
#include "sim/scenario.h"
#include "sim/studies/predict.h"

namespace foretrain::cli {

struct Input {
  sim::Question question;
  std::string digest;  // of everything the user gave that the answer follows from
};

// Reads the scenario (file, stdin or flags with --set) and writes it to --save when asked. Throws Error when
// there is none, when flags and a file are mixed, or for what the reader refuses.
[[nodiscard]] Input read_input(const Arguments& arguments, const calibrate::Catalogue& catalogue);

// The head of a result: command, version, digest, settings and the catalogue files that are not built in.
[[nodiscard]] reports::Head head_of(const Arguments& arguments, const Input& input,
                                    const calibrate::Catalogue& catalogue);

// What the model amounts to, and what one GPU could do at most.
[[nodiscard]] reports::Workload workload_of(const sim::Scenario& scenario, const calibrate::Catalogue& catalogue);

[[nodiscard]] sim::studies::PredictOptions predict_options(const Arguments& arguments);

}  // namespace foretrain::cli
