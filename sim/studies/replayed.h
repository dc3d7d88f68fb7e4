// Replayed: a scenario and its one-GPU reference after their replay, which all parts of an answer read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/studies/critical_kinds.h"
#include "sim/studies/predict.h"
#include "sim/studies/run.h"
#include "sim/studies/shares.h"

namespace foretrain::sim::studies {

struct ReplayedRun {
  std::unique_ptr<Run> run;
  Timeline timeline;
  std::vector<CriticalShare> critical;  // what the model leaves out is one of them, over the whole step
  ParameterId unmodelled;
  double unmodelled_share = 1;  // 0 for the very run that was measured
  [[nodiscard]] double step_seconds() const { return timeline.step_seconds; }
  [[nodiscard]] double samples_per_second() const;
};

struct Replayed {
  ParameterTable parameters;
  Anchor anchor;
  ReplayedRun main;
  ReplayedRun reference;  // one GPU of the same machine; its run is null when the scenario is that itself
  std::map<std::string, double> breakdown;
  CriticalKinds kinds;
  std::uint32_t instance = 0;  // of the main job, whose breakdown it is

  [[nodiscard]] double speedup() const;
};

[[nodiscard]] std::unique_ptr<Replayed> replay_scenario(const Scenario& scenario, const calibrate::Catalogue& catalogue,
                                                        const PredictOptions& options);

// Step seconds of one draw: as simulated, and times what the model leaves out.
struct DrawnStep {
  double simulated = 0, all = 0;
};
// `replays` draws of a run of `replayed`; the same seed gives the same draws for parameters of the same name, so that
// the samples of two runs belong together.
[[nodiscard]] std::vector<DrawnStep> drawn_step_seconds(const ReplayedRun& run, const ParameterTable& parameters,
                                                     int replays, std::uint64_t seed);

}  // namespace foretrain::sim::studies
