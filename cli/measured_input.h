// Measured input: the files of measured runs that validate is given.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "cli/arguments.h"
#include "sim/family.h"
#include "sim/llm_run.h"

namespace foretrain::cli {

struct MeasuredInput {
  sim::FamilyCorpus families;
  sim::RunCorpus runs;
  bool has_families = false, has_runs = false;  // whether a file of that kind was given
  std::string digest;                           // of all files, in their order
};

// Reads and joins the files ("-" is stdin, once); the kind of a file, speedup families or training runs, is known by
// its header. Throws Error for files that are neither, and for one family or run in two files.
[[nodiscard]] MeasuredInput read_measured_input(const Arguments& arguments, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::cli
