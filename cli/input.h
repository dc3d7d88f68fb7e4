// Input: the question of predict, decide and explain, from a scenario file or from flags.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/catalogue.h"
#include "cli/arguments.h"
#include "reports/result.h"
#include "sim/scenario.h"
#include "sim/studies/predict.h"

namespace foretrain::cli {

struct Input {
  sim::Question question;
  std::string source;  // how messages name where it came from
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

// `answer()`. Studies know no files: an Error whose place is a bare JSON pointer gets the input's name in front.
template <class Answer>
[[nodiscard]] auto answered(const Input& input, Answer answer) {
  try {
    return answer();
  } catch (const Error& error) {
    if (error.where().rfind('/', 0) != 0) throw;
    throw Error(error.what(), input.source + ": " + error.where(), error.hint(), error.code());
  }
}

// `input` has to outlive them.
[[nodiscard]] sim::studies::PredictOptions predict_options(const Arguments& arguments, const Input& input);

}  // namespace foretrain::cli
