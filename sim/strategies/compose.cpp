#include "sim/strategies/compose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "sim/memory.h"
#include "sim/server_links.h"
#include "sim/stack_choice.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/input_load.h"
#include "sim/strategies/layers.h"
#include "sim/strategies/optimizer.h"
#include "sim/strategies/reducer.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {
namespace {

void require_data_parallel_plan(const Plan& plan, const calibrate::Stack& stack) {
  const auto refuse = [](const std::string& what, const std::string& key, const std::string& neutral) {
    throw Error(what + " is not supported yet by this version", "/plan/" + key,
                "plain data parallelism is: set plan." + key + " to " + neutral);
  };
  if (plan.tensor != 1) refuse(fmt::format("tensor parallelism over {} GPUs", plan.tensor), "tensor", "1");
  if (plan.pipeline != 1) refuse(fmt::format("pipeline parallelism over {} stages", plan.pipeline), "pipeline", "1");
  if (plan.context != 1) refuse(fmt::format("context parallelism over {} GPUs", plan.context), "context", "1");
  if (plan.expert != 1) refuse(fmt::format("expert parallelism over {} GPUs", plan.expert), "expert", "1");
  const std::string& sharding = chosen_sharding(plan, stack);
  if (sharding != "none") refuse("sharding " + quoted(sharding), "sharding", "\"none\"");
  if (plan.recompute != "none") refuse("recompute " + quoted(plan.recompute), "recompute", "\"none\"");
  if (plan.interleave != 1) refuse(fmt::format("interleave {}", plan.interleave), "interleave", "1");
}

// How much longer than the nominal the slowest rank's kernels take. The step of a synchronous job is that of its
// slowest rank, so jitter enters as the expected maximum over the ranks; over the micro-batches of a step it averages
// out. Ranks that do not wait for one another have no slowest one.
double compute_stretch(const StepWriter& writer, const Cluster& cluster, std::int64_t accumulation,
                       const Reducer* reducer) {
  if (cluster.gpus == 1) return 1.0;
  double stretch = 1.0 + writer.stack("distributed_compute_slowdown");
  if (!reducer->waits_for_all_ranks()) return stretch;
  const double jitter = writer.stack("step_jitter") / std::sqrt(static_cast<double>(accumulation));
  stretch += jitter * expected_normal_maximum(static_cast<std::size_t>(cluster.gpus));
  if (cluster.network != nullptr && cluster.nodes > 1) {
    stretch += writer.stack("node_jitter_factor") * cluster.network->time_jitter_per_doubling *
               std::log2(static_cast<double>(cluster.nodes));
  }
  return stretch;
}

Placement place(const ComposeInput& input, double stretch, const Reducer* reducer) {
  const auto ranks = static_cast<std::size_t>(input.cluster.gpus);
  const double straggler_slowdown = input.scenario.cluster.straggler_slowdown;
  Placement placement;
  placement.class_of_rank.assign(ranks, 0);
  placement.stretch_of_rank.assign(ranks, stretch);
  if (straggler_slowdown != 1.0) {
    placement.class_of_rank.back() = 1;
    placement.stretch_of_rank.back() *= straggler_slowdown;
  }
  if (reducer == nullptr) return placement;
  placement.communicators = reducer->communicators();
  const Communicator all = everyone(input.cluster.gpus).front();
  const bool has_all = std::any_of(placement.communicators.begin(), placement.communicators.end(),
                                   [&](const Communicator& known) { return known.name == all.name; });
  if (spreads_tables(input.scenario.plan) && !has_all) placement.communicators.push_back(all);
  return placement;
}

// What happens in every micro-batch of a step and not once: gradients are reduced, parameters updated, activations of
// tables exchanged.
struct Pace {
  bool reduces_every = false;
  bool updates_every = false;
  bool exchanges_every = false;
  [[nodiscard]] bool written_out() const { return reduces_every || updates_every || exchanges_every; }
};

// Writing out what cannot be aggregated has its limits: a program of this many activities takes about a gigabyte and
// seconds to replay.
constexpr std::int64_t most_activities = 4'000'000;

void require_writable(std::int64_t accumulation, std::int64_t activities_per_micro_batch) {
  const std::int64_t most = std::max<std::int64_t>(1, most_activities / activities_per_micro_batch);
  if (accumulation <= most) return;
  throw Error(fmt::format("{} micro-batches per GPU and step, each with a reduction, update or exchange of its own, are too many "
                          "to be simulated",
                          accumulation),
              "/training/global_batch", fmt::format("at most {} of this model are possible", most));
}

// The micro-batches of a step and what follows each.
class StepLoop {
 public:
  StepLoop(StepWriter& writer, Layers& layers, Reducer* reducer, Pace pace)
      : writer_(writer), layers_(layers), reducer_(reducer), pace_(pace) {}

  void write(std::int64_t accumulation) {
    const bool all =
        pace_.written_out() || accumulation <= std::max<std::int64_t>(writer_.input().explicit_micro_batches, 3);
    const std::int64_t leading = all ? accumulation - 1 : 2;
    for (std::int64_t i = 0; i < leading; ++i) {
      write_micro_batch(i == 0, false);
      if (i == 0 && pace_.written_out()) {
        require_writable(accumulation, static_cast<std::int64_t>(writer_.program().activities.size()));
      }
    }
    if (!all) layers_.write_repeated(accumulation - leading - 1);
    write_micro_batch(accumulation == 1, true);
  }

 private:
  void write_micro_batch(bool first, bool last) {
    const bool reduces = last || pace_.reduces_every;
    layers_.write_micro_batch({first, reduces, !first && !pace_.updates_every}, reducer_, after_);
    after_.clear();
    if (reduces && reducer_ != nullptr) after_ = reducer_->finish();
    if (!last && !pace_.updates_every) return;
    if (reducer_ == nullptr || reducer_->updates_parameters()) after_ = {write_optimizer(writer_, after_)};
    if (last && reducer_ != nullptr && !after_.empty()) reducer_->after_last_update(after_.back());
  }

  StepWriter& writer_;
  Layers& layers_;
  Reducer* reducer_;
  Pace pace_;
  std::vector<ActivityIndex> after_;  // what the next micro-batch, or the update, waits for
};

// Further GPUs of a node share its cores, memory and buses.
void write_host_overhead(StepWriter& writer, bool distributed) {
  const auto write = [&](const std::string& name, Duration duration) {
    writer.explain(name, "launch", duration, "once per step", 1);
    writer.host_work(name, duration);
  };
  write("step overhead", writer.anchored(writer.host_time("host_seconds_per_step", 1)));
  if (!distributed) return;
  write("distributed step overhead", writer.host_time("distributed_host_seconds_per_step", 1));
  const Cluster& cluster = writer.input().cluster;
  const int further = std::min(cluster.gpus, cluster.machine.gpus) - 1;
  write("distributed step overhead of further GPUs in the node",
        writer.host_time("distributed_host_seconds_per_local_gpu", further));
}

void write_input(StepWriter& writer, const Batches& batches) {
  const auto load = input_load(writer.input().scenario, writer.input().cluster, batches, writer.parameters());
  if (!load) return;
  Program& program = writer.program();
  writer.explain("load the next batch", "input", load->duration, load->formula, 1);
  program.add_timed(writer.input_stream(), Category::input, program.add_label("load the next batch"), load->duration);
}

bool layers_exchange(const ComposeInput& input) {
  if (!spreads_tables(input.scenario.plan)) return false;
  const std::vector<const models::Operator*> operators = flat_operators(input.model);
  return std::any_of(operators.begin(), operators.end(), [](const models::Operator* op) { return op->often_sharded; });
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
  require_data_parallel_plan(input.scenario.plan, input.stack);
  const Batches batches = resolve_batches(input.scenario.training, input.scenario.plan, input.cluster.gpus);
  const bool distributed = batches.data_parallel > 1;

  const StackChoice& choice = input.scenario.stack;
  require_known_reducer(choice, input.stack);

  StepWriter writer(input, parameters);
  write_input(writer, batches);
  write_host_overhead(writer, distributed);
  // A single worker has parameter servers too.
  const bool shares = distributed || has_parameter_servers(chosen_reducer(choice, input.stack));
  const std::unique_ptr<Reducer> reducer = shares ? make_reducer(writer) : nullptr;
  const Pace pace{reducer != nullptr && reducer->reduces_every_micro_batch(),
                  updates_every_micro_batch(choice, input.stack), distributed && layers_exchange(input)};
  Layers layers(writer, batches.accumulation, !pace.updates_every);
  StepLoop(writer, layers, reducer.get(), pace).write(batches.accumulation);

  Program& program = writer.program();
  const MemoryParts memory =
      data_parallel_memory(input.model, input.scenario, input.stack, static_cast<int>(batches.data_parallel));
  program.rank_class = "replica";
  program.resident_bytes = resident_bytes(memory, input.stack);
  program.compute_rate_while_communicating = 1.0 - input.stack.at("compute_slowdown_while_communicating").value;

  Composed composed;
  composed.waits_for_all_ranks = reducer == nullptr || reducer->waits_for_all_ranks();
  composed.terms = writer.take_terms();
  composed.placement = place(
      input, compute_stretch(writer, input.cluster, batches.accumulation, reducer.get()), reducer.get());
  composed.programs.push_back(std::move(program));
  if (input.scenario.cluster.straggler_slowdown != 1.0) {
    composed.programs.push_back(composed.programs.front());
    composed.programs.back().rank_class = "straggler";
  }
  warn_extrapolated(composed, layers.extrapolated());
  return composed;
}

}  // namespace foretrain::sim::strategies
