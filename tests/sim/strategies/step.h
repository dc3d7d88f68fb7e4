// Steps of a few square products, composed and replayed, for tests of strategies.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/collectives.h"
#include "sim/engine/replay.h"
#include "sim/fold.h"
#include "sim/strategies/compose.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {

// `layers` square products of 2048 rows, each with its weights.
inline models::Model square_products(int layers) {
  models::Model model;
  for (int i = 0; i < layers; ++i) {
    models::Operator op;
    op.name = "dense" + std::to_string(i);
    op.kind = models::OperatorKind::gemm;
    op.shape = models::GemmShape{1, 2048, 2048, 2048};
    op.parameters = {{op.name + ".weight", {2048, 2048}}};
    op.saved_elements = op.output_elements = 2048.0 * 2048.0;
    op.needs_input_gradient = i > 0;
    model.layers.push_back({op.name, {op}});
  }
  return model;
}

// Composes and replays a step of `layers` square products on `gpus` GPUs of an eight-GPU A100 machine.
struct Step {
  Scenario scenario = studies::scenario("", "Standard_ND96amsr_A100_v4", 1, 1, models::Precision::fp32);
  calibrate::Stack stack = studies::catalogue().stack("pytorch-ddp");
  models::Model model = square_products(4);
  std::int64_t explicit_micro_batches = 4;
  ParameterTable parameters;
  Program program;

  explicit Step(int gpus = 1) { scenario.cluster.gpus = gpus; }

  Composed composed() {
    cluster_ = resolve_cluster(scenario.cluster, studies::catalogue());
    topology_.emplace(cluster_, parameters);
    costs_.emplace(cluster_, *topology_, studies::catalogue(), parameters);
    ComposeInput input{scenario, cluster_, model, stack};
    input.explicit_micro_batches = explicit_micro_batches;
    input.planner = &*costs_;
    input.topology = &*topology_;
    return compose(input, parameters);
  }
  Timeline replayed(bool folded = true) {
    Composed result = composed();
    job = folded ? fold(std::move(result.programs), result.placement, *topology_)
                 : expand(std::move(result.programs), result.placement, *topology_);
    program = job.programs.front();
    return engine::replay(job, *costs_);
  }
  void set(const std::string& key, double value) { stack.values.at(key).value = value; }
  double sum_of(StreamKind kind) const {
    double seconds = 0;
    for (const Activity& activity : program.activities) {
      if (program.streams[activity.stream].kind == kind && !activity.is_collective)
        seconds += activity.duration.time.value;
    }
    return seconds;
  }
  Job job;

 private:
  Cluster cluster_;
  std::optional<Topology> topology_;
  std::optional<CollectiveCosts> costs_;
};

// The collectives of one rank's step, in order.
struct Call {
  std::string communicator, label;
  calibrate::CollectiveKind kind = calibrate::CollectiveKind::all_reduce;
  double bytes = 0;
};
inline std::vector<Call> calls(const Program& program) {
  std::vector<Call> found;
  for (const Activity& activity : program.activities) {
    if (!activity.is_collective) continue;
    found.push_back({program.communicators[activity.communicator], program.labels[activity.label], activity.collective,
                     activity.bytes.value});
  }
  return found;
}
inline std::vector<Call> calls(Step& step) { return calls(step.composed().programs.front()); }
inline double bytes_of(const std::vector<Call>& made) {
  double bytes = 0;
  for (const Call& call : made) bytes += call.bytes;
  return bytes;
}

// Activities on streams of one kind whose label begins so.
inline int count(const Program& program, StreamKind kind, const std::string& label) {
  int found = 0;
  for (const Activity& activity : program.activities) {
    found += program.streams[activity.stream].kind == kind && !activity.is_collective &&
             program.labels[activity.label].rfind(label, 0) == 0;
  }
  return found;
}

}  // namespace foretrain::sim::strategies
