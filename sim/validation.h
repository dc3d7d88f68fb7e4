// Validation: what was predicted of measured runs, and how well that went.
//
// Plain structs that sim/studies fills and reports write. Of speedup families errors are of the speedup over the
// anchor, of runs of language models of the step time: predicted / measured − 1, as fractions.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "calibrate/interval_factors.h"
#include "calibrate/run_traits.h"
#include "sim/family.h"
#include "sim/llm_run.h"

namespace foretrain::sim {

struct ValidatedPoint {
  std::string id, group, kind;
  std::int64_t gpus = 1, anchor_gpus = 1;
  double measured = 0, predicted = 0, low = 0, high = 0;  // speedups over the anchor; the 90 % interval
  std::map<std::string, double> baselines;                // speedup by name of baseline; NaN = it has none
  // The part of the step (a key of the breakdown) that costs most of the efficiency relative to the anchor, and how
  // much it costs, as a share of the step; empty when nothing is lost.
  std::string largest_loss;
  double largest_loss_share = 0;
};

struct GroupScore {
  std::string name;
  std::int64_t rows = 0, predicted = 0, unsupported = 0;  // families or runs
  std::int64_t points = 0;
  // NaN without points.
  double mape = 0, median_ape = 0, bias = 0, within_10_percent = 0;
  double coverage90 = 0, median_width = 0;  // width: (high − low) / predicted
  // 1 − error / error of the better baseline, by mape and by median_ape; NaN where that baseline errs nowhere.
  double skill = 0, median_skill = 0;
  struct Baseline {
    double mape = 0, median_ape = 0;
  };
  std::map<std::string, Baseline> baselines;
};

// How alternatives of one question are ranked: runs that differ in nothing but their configuration.
struct RankScore {
  std::int64_t sets = 0;
  // Means over sets; NaN without one.
  double kendall_tau = std::numeric_limits<double>::quiet_NaN();  // τ-b of measured and predicted times
  double regret = std::numeric_limits<double>::quiet_NaN();  // measured time of what is predicted fastest / best − 1
};

struct RunScore {
  GroupScore errors;
  RankScore ranks;
  double coverage_left_out = 0;  // of intervals whose factors have not seen the run's source; NaN without runs
  double fair_skill = 0;  // over the baseline that has not seen the group, by mape; NaN where it has none
};

struct ValidatedRun {
  RunLabel label;
  std::int64_t gpus = 1;
  std::string plan;                                       // "t8 p16 d32, micro-batch 1"
  double measured = 0, predicted = 0, low = 0, high = 0;  // seconds of a step; the 90 % interval
  std::map<std::string, double> baselines;                // seconds by name of baseline; NaN = it has none
  std::map<std::string, double> parts;  // seconds of the predicted step by key of the breakdown; they sum to it
  std::string largest_part;  // of the predicted step beside computing: a key of the breakdown; empty = none
  double largest_part_share = 0;
  // Standard deviation of the logarithm of the step that parameters, stack and unstated settings leave, before the
  // factors learnt on measured runs widen or narrow it.
  double log_spread = 0;
  double repeat_spread = 0;  // how well steps repeat at all, as that of the stack
  calibrate::RunTraits traits;
  bool held_left_out = false;  // by an interval whose factors have not seen the run's source
  double ideal_step_seconds = 0, bubble = 0;  // of the run, for baselines
  std::string set, configuration;             // of the run
};

// Every group counted alike, whatever its number of runs; groups without predicted runs are left out.
struct GroupComparison {
  std::int64_t groups = 0;
  double mean_mape = std::numeric_limits<double>::quiet_NaN();  // of the groups; NaN without one
  // Groups that have a fair baseline (one that has not seen them), and those that err less than it.
  std::int64_t with_fair = 0, better_than_fair = 0;
  // Groups in which the better baseline fitted to the group itself errs by more than a tenth, and those that err less.
  std::int64_t with_hard = 0, better_than_hard = 0;
};

struct RunValidation {
  std::vector<ValidatedRun> runs;       // by id
  std::vector<DeclinedRun> declined;    // by id
  std::int64_t lost = 0;                // declined because their worker ended or failed
  std::vector<RunScore> groups, gpu_classes;  // by name
  RunScore overall;
  std::vector<calibrate::IntervalFactors> interval_factors;  // that these runs support
  GroupComparison comparison;
  // Runs of tier A and B whose tokens and experts stay whole, and how many of them were predicted.
  std::int64_t complete = 0, complete_predicted = 0;
};

struct Validation {
  std::vector<ValidatedPoint> points;             // by id, then gpus
  std::vector<DeclinedFamily> declined;           // by id
  std::int64_t lost = 0;  // declined because their worker ended or failed: a failure of ours, not of the family
  std::vector<GroupScore> groups, kinds;          // by name
  GroupScore overall;
  RunValidation runs;
  // Of families and runs together, where both are there: counts, and errors that are of different things.
  GroupScore pooled;
};

}  // namespace foretrain::sim
