// Run: one scenario made ready to replay: cluster, model, programs, links, folded or expanded job.
//
// Everything a replay needs lives here once, so that many replays (draws, the search for an anchor) build
// nothing anew. Parameters go into a table the caller owns: runs that are to be compared share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/cluster.h"
#include "sim/collectives.h"
#include "sim/job.h"
#include "sim/memory.h"
#include "sim/prediction.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/compose.h"
#include "sim/timeline.h"
#include "sim/topology.h"
#include "sim/traffic.h"

namespace foretrain::sim::studies {

// What a measured step says about kernels and launches; the default says nothing.
struct Anchor {
  double compute_scale = 1.0;
  std::optional<Parameter> parameter;  // what their time rests on instead of the device's and stack's own
  std::string note;                    // for the provenance of the answer: "anchored on a measured step of …"
  bool is_the_measured_run = false;    // the scenario itself was measured
};

struct RunOptions {
  bool fold = true;
  bool want_terms = false;
};

class Run {
 public:
  Run(const Scenario& scenario, const calibrate::Catalogue& catalogue, const Anchor& anchor, const RunOptions& options,
      ParameterTable& parameters);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const calibrate::Stack& stack() const { return stack_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const models::Model& model() const { return model_; }
  [[nodiscard]] const strategies::Batches& batches() const { return batches_; }
  [[nodiscard]] const strategies::Composed& composed() const { return composed_; }  // its programs are in the job
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] bool distributed() const { return batches_.data_parallel > 1; }  // gradients are shared
  // Of the fullest pipeline stage.
  [[nodiscard]] const MemoryParts& memory() const { return composed_.memory.of_fullest(); }

  [[nodiscard]] Timeline replay(const Draw* draw = nullptr) const;
  // Of all ranks together; where they do not wait for one another, each at its own pace.
  [[nodiscard]] double samples_per_second(const Timeline& timeline) const;
  // What the collectives of a replay put on links, by collective.
  [[nodiscard]] std::vector<Traffic> traffic(const Timeline& timeline) const;
  // Terms of `explain` of one instance, collectives included: only the run knows over which links they go.
  [[nodiscard]] std::vector<Term> terms(std::uint32_t instance) const;

 private:
  Scenario scenario_;
  Cluster cluster_;
  calibrate::Stack stack_;
  models::Model model_;
  strategies::Batches batches_;
  const ParameterTable& parameters_;
  Topology topology_;
  CollectiveCosts costs_;
  strategies::Composed composed_;
  Job job_;
};

}  // namespace foretrain::sim::studies
