// Steps whose state is sharded, written and replayed, for tests of their reducers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/strategies/sharded.h"
#include "sim/strategies/step_loop.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {

// As many square products, of which all but the first and the last are blocks.
inline models::Model embraced_blocks(int products) {
  models::Model model = square_products(products);
  for (std::size_t i = 1; i + 1 < model.layers.size(); ++i) model.layers[i].is_block = true;
  return model;
}
constexpr double product_parameters = 2048.0 * 2048.0;

// A step of the model on machines of eight A100 GPUs, in fp32, without a pipeline.
struct ShardedStep {
  Scenario scenario = studies::scenario("", "Standard_ND96amsr_A100_v4", 1, 1, models::Precision::fp32);
  calibrate::Stack stack;
  models::Model model;
  std::int64_t micro_batches = 1;
  ParameterTable parameters;
  Program program;
  std::vector<Communicator> communicators;
  std::vector<Span> spans;

  ShardedStep(int gpus, const std::string& sharding, int products = 6, const std::string& stack_name = "pytorch-ddp")
      : stack(studies::catalogue().stack(stack_name)), model(embraced_blocks(products)) {
    scenario.cluster.gpus = gpus;
    scenario.plan.sharding = sharding;
  }
  void set(const std::string& key, double value) { stack.values.at(key).value = value; }

  void write() {
    cluster_ = resolve_cluster(scenario.cluster, studies::catalogue());
    const Layout layout(scenario.plan, cluster_.gpus);
    local_ = LocalModel{};
    for (const models::Layer& layer : model.layers) {
      LocalLayer& local = local_.layers.emplace_back();
      local.name = layer.name;
      local.is_block = layer.is_block;
      for (const models::Operator& op : layer.operators) {
        local.operators.emplace_back();
        local.operators.back().op = op;
      }
    }
    local_.segments = segments;
    if (!segments.empty()) {
      for (LocalLayer& layer : local_.layers) {
        if (!layer.is_block) continue;
        for (LocalOperator& op : layer.operators) op.segment = 0;
      }
    }
    const Stage stage{local_};
    const ComposeInput input{scenario, cluster_, model, stack};
    StepWriter writer(input, {layout, 0, stage}, parameters);
    const std::unique_ptr<Reducer> reducer = make_sharded_reducer(writer);
    Chunk chunk(writer, stage.front(), micro_batches, !keeps_gradients_in_parts(scenario.plan, stack));
    const Pace pace{reducer->reduces_every_micro_batch(), false, false, reducer->gathers_parameters()};
    StepLoop(writer, chunk, reducer.get(), pace).write(micro_batches);
    communicators = reducer->communicators();
    if (layout.tensor() > 1) communicators.push_back(layout.tensor_groups());
    bool has_data = false;
    for (const Communicator& known : communicators) has_data = has_data || known.name == data_communicator;
    if (!has_data) communicators.push_back(layout.data_groups());
    program = std::move(writer.program());
  }

  // Seconds of the step.
  double replayed(bool folded = true) {
    write();
    const Topology topology(cluster_, parameters);
    const CollectiveCosts costs(cluster_, topology, studies::catalogue(), parameters);
    Placement placement;
    placement.class_of_rank.assign(static_cast<std::size_t>(cluster_.gpus), 0);
    placement.stretch_of_rank.assign(static_cast<std::size_t>(cluster_.gpus), 1.0);
    placement.communicators = communicators;
    const Job job = folded ? fold({program}, placement, topology) : expand({program}, placement, topology);
    const Timeline timeline = engine::replay(job, costs);
    instances = job.instances.size();
    spans.assign(timeline.spans.begin() + timeline.first_of[0],
                 timeline.spans.begin() + timeline.first_of[0] + static_cast<std::ptrdiff_t>(program.activities.size()));
    return timeline.step_seconds;
  }

  // Indices of the activities of that label, on any stream but the host's.
  [[nodiscard]] std::vector<std::size_t> find(const std::string& label) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < program.activities.size(); ++i) {
      const bool on_host = program.streams[program.activities[i].stream].kind == StreamKind::host;
      if (!on_host && program.labels[program.activities[i].label] == label) found.push_back(i);
    }
    return found;
  }
  // Of a label that occurs once.
  [[nodiscard]] const Span& span(const std::string& label, std::size_t occurrence = 0) const {
    return spans[find(label).at(occurrence)];
  }

  std::vector<RecomputeSegment> segments;  // one: all blocks are computed again together
  std::size_t instances = 0;

 private:
  Cluster cluster_;
  LocalModel local_;
};

// What one rank puts on the wire in a step, as closed forms count it.
inline double wire_bytes(const ShardedStep& step, const std::string& communicator, int ranks) {
  double bytes = 0;
  for (const Call& call : calls(step.program)) {
    if (call.communicator == communicator) bytes += calibrate::bus_factor(call.kind, ranks) * call.bytes;
  }
  return bytes;
}

}  // namespace foretrain::sim::strategies
