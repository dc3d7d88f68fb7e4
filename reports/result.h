// Result: everything one command has to report, before it takes a form.
//
// The commands of cli/ fill these; every writer of this folder (text, JSON, CSV, Markdown) reads the same
// struct, so that the forms cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/prediction.h"
#include "sim/scenario.h"
#include "sim/validation.h"

namespace foretrain::reports {

// A catalogue file that is not the built-in one, and so changes what the numbers rest on.
struct Profile {
  std::string kind, name, digest;
};

// What identifies a result: who made it out of what.
struct Head {
  std::string command, version;
  std::string input_digest;  // of the scenario's text, the assignments and the files they name
  std::vector<Profile> profiles;
  bool folded = true;
  int replays = 0;
  std::uint64_t seed = 1;
};

// The work itself, so that a reader can check that the question was understood. Zero = not known.
struct Workload {
  std::string model, family, sample_unit, source;
  double parameters = 0;
  double training_flops_per_sample = 0;  // forward and backward
  double saved_elements_per_sample = 0;  // kept from forward to backward
  double device_peak_flops_per_s = 0;    // of one GPU in the scenario's precision
};

struct PredictResult {
  Head head;
  sim::Scenario scenario;
  Workload workload;
  sim::Prediction prediction;
};

struct DecideResult {
  Head head;
  Workload workload;
  sim::Decision decision;  // carries the scenarios
};

struct ValidateResult {
  Head head;
  sim::Validation validation;
};

}  // namespace foretrain::reports
