#include "sim/strategies/compose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "sim/memory.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/input_load.h"
#include "sim/strategies/layers.h"
#include "sim/strategies/optimizer.h"
#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {
namespace {

void require_data_parallel_plan(const Plan& plan) {
  const auto refuse = [](const std::string& what, const std::string& key, const std::string& neutral) {
    throw Error(what + " is not supported yet by this version", "/plan/" + key,
                "plain data parallelism is: set plan." + key + " to " + neutral);
  };
  if (plan.tensor != 1) refuse(fmt::format("tensor parallelism over {} GPUs", plan.tensor), "tensor", "1");
  if (plan.pipeline != 1) refuse(fmt::format("pipeline parallelism over {} stages", plan.pipeline), "pipeline", "1");
  if (plan.context != 1) refuse(fmt::format("context parallelism over {} GPUs", plan.context), "context", "1");
  if (plan.expert != 1) refuse(fmt::format("expert parallelism over {} GPUs", plan.expert), "expert", "1");
  if (plan.sharding != "none") refuse("sharding " + quoted(plan.sharding), "sharding", "\"none\"");
  if (plan.recompute != "none") refuse("recompute " + quoted(plan.recompute), "recompute", "\"none\"");
  if (plan.interleave != 1) refuse(fmt::format("interleave {}", plan.interleave), "interleave", "1");
}

// How much longer than the nominal the slowest rank's kernels take. The step of a synchronous job is that of its
// slowest rank, so jitter enters as the expected maximum over the ranks.
double compute_stretch(const StepWriter& writer, const Cluster& cluster) {
  if (cluster.gpus == 1) return 1.0;
  double stretch = 1.0 + writer.stack("distributed_compute_slowdown");
  stretch += writer.stack("step_jitter") * expected_normal_maximum(static_cast<std::size_t>(cluster.gpus));
  if (cluster.network != nullptr && cluster.nodes > 1) {
    stretch += cluster.network->time_jitter_per_doubling * std::log2(static_cast<double>(cluster.nodes));
  }
  return stretch;
}

Placement place(const Cluster& cluster, double stretch, double straggler_slowdown, const Reducer* reducer) {
  const auto ranks = static_cast<std::size_t>(cluster.gpus);
  Placement placement;
  placement.class_of_rank.assign(ranks, 0);
  placement.stretch_of_rank.assign(ranks, stretch);
  if (straggler_slowdown != 1.0) {
    placement.class_of_rank.back() = 1;
    placement.stretch_of_rank.back() *= straggler_slowdown;
  }
  if (reducer != nullptr) placement.communicators = reducer->communicators();
  return placement;
}

void write_micro_batches(Layers& layers, Reducer* reducer, std::int64_t accumulation, std::int64_t explicit_most) {
  const bool all = accumulation <= std::max<std::int64_t>(explicit_most, 3);
  const std::int64_t leading = all ? accumulation - 1 : 2;
  for (std::int64_t i = 0; i < leading; ++i) layers.write_micro_batch({.first = i == 0, .last = false}, reducer);
  if (!all) layers.write_repeated(accumulation - leading - 1);
  layers.write_micro_batch({.first = accumulation == 1, .last = true}, reducer);
}

void write_host_overhead(StepWriter& writer, bool distributed) {
  const auto write = [&](const std::string& name, Duration duration) {
    writer.explain(name, "launch", duration, "once per step", 1);
    writer.host_work(name, duration);
  };
  write("step overhead", writer.anchored(writer.host_time("host_seconds_per_step", 1)));
  if (distributed) write("distributed step overhead", writer.host_time("distributed_host_seconds_per_step", 1));
}

void write_input(StepWriter& writer, const Batches& batches) {
  const auto load = input_load(writer.input().scenario, writer.input().cluster, batches, writer.parameters());
  if (!load) return;
  Program& program = writer.program();
  writer.explain("load the next batch", "input", load->duration, load->formula, 1);
  program.add_timed(writer.input_stream(), Category::input, program.add_label("load the next batch"), load->duration);
}

void warn_extrapolated(Composed& composed, const std::vector<std::string>& operators) {
  if (operators.empty()) return;
  composed.extrapolating = true;
  composed.warnings.push_back(fmt::format(
      "extrapolating: {} operator{} outside the calibrated range of this device ({}{})", operators.size(),
      operators.size() == 1 ? " lies" : "s lie", printable(operators.front()), operators.size() > 1 ? ", …" : ""));
}

}  // namespace

Composed compose(const ComposeInput& input, ParameterTable& parameters) {
  require_data_parallel_plan(input.scenario.plan);
  const Batches batches = resolve_batches(input.scenario.training, input.scenario.plan, input.cluster.gpus);
  const bool distributed = batches.data_parallel > 1;

  StepWriter writer(input, parameters);
  write_input(writer, batches);
  write_host_overhead(writer, distributed);
  Layers layers(writer, batches.accumulation);
  const std::unique_ptr<Reducer> reducer = distributed ? make_reducer(writer) : nullptr;
  write_micro_batches(layers, reducer.get(), batches.accumulation, input.explicit_micro_batches);
  const std::vector<ActivityIndex> reduced = reducer ? reducer->finish() : std::vector<ActivityIndex>{};
  if (!reducer || reducer->updates_parameters()) write_optimizer(writer, reduced);

  Program& program = writer.program();
  const MemoryParts memory = data_parallel_memory(input.model, input.scenario.training, input.stack, distributed);
  program.rank_class = "replica";
  program.resident_bytes = resident_bytes(memory, input.stack);
  program.compute_rate_while_communicating = 1.0 - input.stack.at("compute_slowdown_while_communicating").value;

  Composed composed;
  composed.terms = writer.take_terms();
  composed.placement =
      place(input.cluster, compute_stretch(writer, input.cluster), input.scenario.cluster.straggler_slowdown,
            reducer.get());
  composed.programs.push_back(std::move(program));
  if (input.scenario.cluster.straggler_slowdown != 1.0) {
    composed.programs.push_back(composed.programs.front());
    composed.programs.back().rank_class = "straggler";
  }
  warn_extrapolated(composed, layers.extrapolated());
  return composed;
}

}  // namespace foretrain::sim::strategies
