// Measured input: the files of measured runs that validate is given.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "cli/arguments.h"
#include "sim/family.h"

namespace foretrain::cli {

struct MeasuredInput {
  sim::FamilyCorpus corpus;
  std::string digest;  // of all files, in their order
};

// Reads and joins the files ("-" is stdin, once). Throws Error for files that are no speedup families (the kind is
// known by the header) and for one family in two files.
[[nodiscard]] MeasuredInput read_measured_input(const Arguments& arguments, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::cli
