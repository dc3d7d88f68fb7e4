// LlmRun: one published training run of a large language model as a question, beside the step that was measured.
//
// Predictions are absolute: nothing that was measured is part of the scenario, and nothing that predicts may read what
// stands beside it.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"

namespace foretrain::sim {

// What identifies a published run, whether it can be simulated or not.
struct RunLabel {
  std::string id;
  std::string group;      // the source: its `file`
  std::string gpu_class;  // "A100-80GB"
  std::string tier;       // A, B: workload complete; C, D: parts of it are not stated
  // Neither the tokens of a sequence nor experts are spread over ranks (context, expert parallelism).
  bool keeps_tokens_whole = true;
};

struct LlmRun {
  RunLabel label;
  Scenario scenario;
  double measured_step_seconds = 0;
  // Relative standard deviation of the step from what the source does not state and the mapping assumed.
  double assumed_spread = 0;
  // For baselines: the step at the devices' peak by Megatron's formula for FLOPs (Narayanan et al. 2021,
  // arXiv:2104.04473, appendix), and what 1F1B's bubble adds to a step, as a fraction of it: (p − 1) / (m · v).
  double ideal_step_seconds = 0, bubble = 0;
  // Runs of equal `set` differ in nothing but their configuration: alternatives of one question.
  std::string set, configuration;
};

// A published run that is not predicted, with the reason, which holds for a class of runs.
struct DeclinedRun {
  RunLabel label;
  std::string reason;
};

struct RunCorpus {
  std::vector<LlmRun> runs;
  std::vector<DeclinedRun> declined;
};

}  // namespace foretrain::sim
