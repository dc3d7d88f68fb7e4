// Compose: splitters, a schedule and a reducer write the rank programs of one step.
//
// The result knows nothing of SimGrid and the engine nothing of strategies. A strategy is one of three
// small kinds, one file each: a splitter rewrites layers, a schedule orders micro-batches, a reducer
// moves gradients. Data parallelism has the trivial splitter and schedule and the `ddp` reducer.
//
// A step starts with host and device idle (training loops read the loss, gradient scalers read their
// overflow flag, so frameworks do synchronise once per step) and with its own batch already loaded: the
// input stream loads the next one beside it, so that a step lasts as long as the longer of work and input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "calibrate/catalogue.h"
#include "models/model.h"
#include "sim/cluster.h"
#include "sim/collective_planner.h"
#include "sim/placement.h"
#include "sim/prediction.h"
#include "sim/program.h"
#include "sim/scenario.h"
#include "sim/strategies/plan_memory.h"
#include "sim/topology.h"

namespace foretrain::sim::strategies {

struct Composed {
  std::vector<Program> programs;
  Placement placement;
  std::vector<std::vector<Term>> terms;  // by program: provenance of every duration, for explain (only when asked)
  std::vector<std::string> warnings;
  bool extrapolating = false;
  PlanMemory memory;
  bool waits_for_all_ranks = true;  // else each rank goes on to its next step by itself
  // Stages go on to the next step without waiting for others to end this one: zero-bubble schedules update at once and
  // validate afterwards (Qi et al. 2023, arXiv:2401.10241, section 4).
  bool steps_overlap = false;
};

struct ComposeInput {
  const Scenario& scenario;
  const Cluster& cluster;
  const models::Model& model;
  const calibrate::Stack& stack;  // with the scenario's options applied
  // From anchoring on a measured step: kernels and launches take this factor longer, and their time rests on
  // this one parameter instead of the device's and the stack's own.
  double compute_scale = 1.0;
  std::optional<Parameter> compute_parameter = {};
  bool want_terms = false;
  // Longer accumulation is written as one aggregate between the first two micro-batches and the last one:
  // exact up to the start-up of the pipeline of launches and kernels.
  std::int64_t explicit_micro_batches = 4;
  // For the time of collectives inside blocks (chunk.h); needed where layers have collectives and are not written out.
  const CollectivePlanner* planner = nullptr;
  const Topology* topology = nullptr;
};

// Throws Error for plans, reducers and optimizers that this version does not know, and for a global batch that
// does not divide.
[[nodiscard]] Composed compose(const ComposeInput& input, ParameterTable& parameters);

}  // namespace foretrain::sim::strategies
