// Compose: splitters, a schedule and a reducer write the rank programs of one step.
//
// The result knows nothing of SimGrid and the engine nothing of strategies. A strategy is one of three
// small kinds, one file each: a splitter rewrites layers, a schedule orders micro-batches, a reducer
// moves gradients. Data parallelism has the trivial splitter and schedule and the `ddp` reducer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "calibrate/catalogue.h"
#include "models/model.h"
#include "sim/cluster.h"
#include "sim/placement.h"
#include "sim/prediction.h"
#include "sim/program.h"
#include "sim/scenario.h"

namespace foretrain::sim::strategies {

struct Composed {
  std::vector<Program> programs;
  Placement placement;
  std::vector<Term> terms;  // provenance of every duration, for explain (only when asked)
  double compute_scale = 1.0;
  std::vector<std::string> warnings;
  bool extrapolating = false;
};

struct ComposeInput {
  const Scenario& scenario;
  const Cluster& cluster;
  const models::Model& model;
  const calibrate::Stack& stack;  // with the scenario's options applied
  double compute_scale = 1.0;     // from anchoring on a measured step; 1 = none
  bool want_terms = false;
};

[[nodiscard]] Composed compose(const ComposeInput& input, ParameterTable& parameters);

}  // namespace foretrain::sim::strategies
