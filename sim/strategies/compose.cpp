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
#include "sim/strategies/chunk.h"
#include "sim/strategies/pipeline.h"
#include "sim/strategies/plan_memory.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/sharded.h"
#include "sim/strategies/splitters.h"
#include "sim/strategies/stages.h"
#include "sim/strategies/step_loop.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {
namespace {

// How much longer than the nominal the slowest rank's kernels take. The step of a synchronous job is that of its
// slowest rank, so jitter enters as the expected maximum over the ranks; over the micro-batches of a step it averages
// out. Ranks that do not wait for one another have no slowest one.
double compute_stretch(const ComposeInput& input, std::int64_t accumulation, bool waits_for_all_ranks) {
  const Cluster& cluster = input.cluster;
  if (cluster.gpus == 1) return 1.0;
  double stretch = 1.0 + input.stack.at("distributed_compute_slowdown").value;
  if (!waits_for_all_ranks) return stretch;
  const double jitter = input.stack.at("step_jitter").value / std::sqrt(static_cast<double>(accumulation));
  stretch += jitter * expected_normal_maximum(static_cast<std::size_t>(cluster.gpus));
  if (cluster.network != nullptr && cluster.nodes > 1) {
    stretch += input.stack.at("node_jitter_factor").value * cluster.network->time_jitter_per_doubling *
               std::log2(static_cast<double>(cluster.nodes));
  }
  return stretch;
}

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

// Keys that would say nothing beside the others are refused: what is written counts.
void require_meaning(const Plan& plan, const std::string& sharding) {
  const auto refuse = [](const std::string& what, const char* key, const std::string& hint) {
    throw Error(what, std::string("/plan/") + key, hint);
  };
  if (plan.pipeline == 1 && plan.interleave > 1) {
    refuse(fmt::format("{} chunks of layers per stage without a pipeline", plan.interleave), "interleave",
           "set plan.pipeline to 2 or more, or leave interleave out");
  }
  if (plan.pipeline == 1 && !plan.stage_layers.empty()) {
    refuse("layers of stages without a pipeline", "stage_layers", "set plan.pipeline, or leave stage_layers out");
  }
  if (!plan.stage_layers.empty() && plan.stage_split != "even") {
    refuse("stages are cut by " + plan.stage_split + ", and their layers are given", "stage_split", "keep one of them");
  }
  if (plan.shard_group > 0 && sharding != "hsdp") {
    refuse("a shard group goes with sharding hsdp, not " + sharding, "shard_group",
           "set plan.sharding to \"hsdp\", or leave shard_group out");
  }
}

// Writing passes of stages out has its limits: a million of them take about ten seconds and a gigabyte.
constexpr std::int64_t most_turns = 2'000'000;

void require_writable(const Plan& plan, std::int64_t micro_batches) {
  if (plan.pipeline == 1) return;
  const std::int64_t per_micro_batch = 2 * plan.pipeline * plan.interleave;
  if (micro_batches <= most_turns / per_micro_batch) return;
  throw Error(fmt::format("{} micro-batches over {} stages of {} chunk{} are too many to be simulated", micro_batches,
                          plan.pipeline, plan.interleave, plan.interleave == 1 ? "" : "s"),
              "/training/global_batch",
              fmt::format("at most {} micro-batches per step on this pipeline", most_turns / per_micro_batch));
}

bool is_one_rank_class(const Plan& plan) { return plan.pipeline == 1; }

// Writes the programs of all stages and puts them together.
class Composer {
 public:
  Composer(const ComposeInput& input, ParameterTable& parameters)
      : input_(input),
        parameters_(parameters),
        batches_(resolve_batches(input.scenario.training, input.scenario.plan, input.cluster.gpus)),
        local_(split(input.model, input.scenario, input.stack)),
        layout_(input.scenario.plan, input.cluster.gpus),
        stages_(stages_of(local_, input.scenario.plan, layer_seconds())) {
    require_known_reducer(input.scenario.stack, input.stack);
    require_known_sharding(input.scenario, input.stack);
    require_meaning(input.scenario.plan, chosen_sharding(input.scenario.plan, input.stack));
    require_writable(input.scenario.plan, batches_.accumulation);
    composed_.memory = plan_memory(stages_, input.scenario, input.stack, input.cluster);
  }

  Composed compose() {
    for (int stage = 0; stage < layout_.stages(); ++stage) write(stage);
    if (input_.scenario.cluster.straggler_slowdown != 1.0) add_straggler();
    warn_extrapolated();
    return std::move(composed_);
  }

 private:
  // What stages of like time are cut by; nothing where nobody asks.
  [[nodiscard]] std::vector<double> layer_seconds() const {
    const Plan& plan = input_.scenario.plan;
    if (is_one_rank_class(plan) || plan.stage_split != "time") return {};
    ParameterTable unused;
    const Stage whole{local_};
    StepWriter writer(input_, {layout_, 0, whole}, unused);
    return Chunk(writer, whole.front(), 1, false).layer_seconds();
  }

  void write(int stage) {
    const Stage& own = stages_[static_cast<std::size_t>(stage)];
    StepWriter writer(input_, {layout_, stage, own}, parameters_);
    if (stage == 0) write_input(writer, batches_);
    write_host_overhead(writer, input_.cluster.gpus > 1);
    const StackChoice& choice = input_.scenario.stack;
    // A single worker has parameter servers too.
    const bool shares = layout_.data() > 1 || has_parameter_servers(chosen_reducer(choice, input_.stack));
    const std::unique_ptr<Reducer> reducer = shares ? make_reducer(writer) : nullptr;
    const bool adds_up = !updates_every_micro_batch(choice, input_.stack);
    // Sums of parts are the reducer's, and of parts only.
    const bool sums_parts = layout_.data() > 1 && keeps_gradients_in_parts(input_.scenario.plan, input_.stack);
    std::vector<Chunk> chunks;
    std::size_t first_operator = 0;
    for (const LocalModel& chunk : own) {
      chunks.emplace_back(writer, chunk, batches_.accumulation, adds_up && !sums_parts, first_operator);
      first_operator += flat_operators(chunk).size();
      note_extrapolated(chunks.back());
    }
    if (is_one_rank_class(input_.scenario.plan)) {
      const Pace pace{reducer != nullptr && reducer->reduces_every_micro_batch(), !adds_up,
                      layout_.data() > 1 && layers_exchange(input_),
                      reducer != nullptr && reducer->gathers_parameters()};
      StepLoop(writer, chunks.front(), reducer.get(), pace).write(batches_.accumulation);
    } else {
      write_pipeline(writer, chunks, {batches_.accumulation, stages_, reducer.get()});
    }
    if (stage == 0) place(reducer.get());
    take(stage, writer);
  }

  // Communicators and what every rank is; all stages have reducers alike.
  void place(const Reducer* reducer) {
    composed_.steps_overlap = is_zero_bubble(input_.scenario.plan);
    composed_.waits_for_all_ranks = reducer == nullptr || reducer->waits_for_all_ranks();
    Placement& placement = composed_.placement;
    const double stretch = compute_stretch(input_, batches_.accumulation, composed_.waits_for_all_ranks);
    for (int rank = 0; rank < layout_.ranks(); ++rank) placement.class_of_rank.push_back(layout_.stage_of(rank));
    placement.stretch_of_rank.assign(static_cast<std::size_t>(layout_.ranks()), stretch);
    std::vector<Communicator>& all = placement.communicators;
    if (reducer != nullptr) all = reducer->communicators();
    const auto add = [&](Communicator communicator) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const Communicator& other) {
        return other.name == communicator.name;
      });
      if (!known) all.push_back(std::move(communicator));
    };
    const bool shards = chosen_sharding(input_.scenario.plan, input_.stack) != "none";
    if (layout_.data() > 1 && (shards || spreads_tables(input_.scenario.plan))) add(layout_.data_groups());
    if (layout_.tensor() > 1) add(layout_.tensor_groups());
    if (layout_.stages() == 1) return;
    add(layout_.embedding_groups());
    for (int stage = 0; stage < layout_.stages(); ++stage) {
      add(layout_.activations_from(stage));
      add(layout_.gradients_from(stage));
    }
  }

  void take(int stage, StepWriter& writer) {
    Program& program = writer.program();
    program.rank_class = layout_.stages() == 1 ? "replica" : fmt::format("stage {}", stage);
    program.resident_bytes = resident_bytes(composed_.memory.stages[static_cast<std::size_t>(stage)], input_.stack);
    program.compute_rate_while_communicating = 1.0 - input_.stack.at("compute_slowdown_while_communicating").value;
    composed_.programs.push_back(std::move(program));
    composed_.terms.push_back(writer.take_terms());
  }

  // The last rank is of a class of its own.
  void add_straggler() {
    Placement& placement = composed_.placement;
    composed_.terms.push_back(composed_.terms.back());
    composed_.programs.push_back(composed_.programs.back());
    composed_.programs.back().rank_class = "straggler";
    placement.class_of_rank.back() = static_cast<int>(composed_.programs.size()) - 1;
    placement.stretch_of_rank.back() *= input_.scenario.cluster.straggler_slowdown;
  }

  void note_extrapolated(const Chunk& chunk) {
    const std::vector<std::string> more = chunk.extrapolated();
    extrapolated_.insert(extrapolated_.end(), more.begin(), more.end());
  }

  void warn_extrapolated() {
    if (extrapolated_.empty()) return;
    composed_.extrapolating = true;
    composed_.warnings.push_back(fmt::format(
        "extrapolating: {} operator{} outside the calibrated range of this device ({}{})", extrapolated_.size(),
        extrapolated_.size() == 1 ? " lies" : "s lie", printable(extrapolated_.front()),
        extrapolated_.size() > 1 ? ", …" : ""));
  }

  const ComposeInput& input_;
  ParameterTable& parameters_;
  Batches batches_;
  LocalModel local_;
  Layout layout_;
  std::vector<Stage> stages_;
  Composed composed_;
  std::vector<std::string> extrapolated_;
};

}  // namespace

Composed compose(const ComposeInput& input, ParameterTable& parameters) {
  return Composer(input, parameters).compose();
}

}  // namespace foretrain::sim::strategies
