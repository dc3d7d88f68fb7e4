#include "sim/strategies/plan_memory.h"

#include <algorithm>
#include <utility>

#include "models/precision.h"
#include "sim/server_links.h"
#include "sim/stack_choice.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/buffers.h"
#include "sim/strategies/chunk_memory.h"
#include "sim/strategies/schedule.h"
#include "sim/strategies/sharded.h"
#include "sim/strategies/splitters.h"

namespace foretrain::sim::strategies {
namespace {

const double full = models::activation_bytes(models::Precision::fp32);

// What the ranks of a stage hold in parts.
struct Sharding {
  bool optimizer = false, gradients = false, parameters = false;
  // Parameters are cast when they are gathered (FSDP); else a two-byte part lies beside that of the main copy.
  bool casts_parts = false;
  double ranks = 1;
};

Sharding sharding_of(const Scenario& scenario, const calibrate::Stack& stack, const Cluster& cluster,
                     const Batches& batches) {
  const std::string& kind = chosen_sharding(scenario.plan, stack);
  Sharding sharding;
  sharding.ranks = shard_ranks(scenario.plan, stack, static_cast<int>(batches.data_parallel), cluster.machine.gpus);
  if (sharding.ranks == 1) return sharding;
  sharding.optimizer = true;
  sharding.parameters = kind == "zero3" || kind == "hsdp";
  sharding.casts_parts = sharding.parameters && stack.sharding != "none";
  // Gradients of one micro-batch need not be kept for another.
  sharding.gradients = keeps_gradients_in_parts(scenario.plan, stack) ||
                       (sharding.parameters && batches.accumulation == 1);
  return sharding;
}

// Parameters of a stage, in all and by units in which sharded ones are gathered: blocks, and the root with everything
// else; without blocks every layer is a unit.
struct Parameters {
  double trained = 0, frozen = 0;
  double root_trained = 0, root_frozen = 0;
  double largest_unit = 0, largest_unit_trained = 0;
  [[nodiscard]] double all() const { return trained + frozen; }
  [[nodiscard]] double root() const { return root_trained + root_frozen; }
};

Parameters parameters_of(const Stage& stage) {
  bool has_blocks = false;
  for (const LocalModel& chunk : stage) {
    for (const LocalLayer& layer : chunk.layers) has_blocks = has_blocks || layer.is_block;
  }
  Parameters parameters;
  for (const LocalModel& chunk : stage) {
    for (const LocalLayer& layer : chunk.layers) {
      double trained = 0, frozen = 0;
      for (const LocalOperator& local : layer.operators) {
        trained += static_cast<double>(models::parameter_count(local.op));
        frozen += static_cast<double>(models::frozen_parameter_count(local.op));
      }
      parameters.trained += trained;
      parameters.frozen += frozen;
      if (has_blocks && !layer.is_block) {
        parameters.root_trained += trained;
        parameters.root_frozen += frozen;
      } else {
        parameters.largest_unit = std::max(parameters.largest_unit, trained + frozen);
        parameters.largest_unit_trained = std::max(parameters.largest_unit_trained, trained);
      }
    }
  }
  return parameters;
}

// sharing_buffers() reads a model's gradients; a stage's operators are one.
models::Model as_model(const Stage& stage) {
  models::Model model;
  for (const LocalModel& chunk : stage) {
    for (const LocalLayer& layer : chunk.layers) {
      model.layers.push_back({layer.name, {}, layer.is_block});
      for (const LocalOperator& local : layer.operators) model.layers.back().operators.push_back(local.op);
    }
  }
  return model;
}

class StageState {
 public:
  StageState(const Stage& stage, const Scenario& scenario, const calibrate::Stack& stack, const Sharding& sharding,
             std::int64_t data_parallel)
      : stage_(stage),
        scenario_(scenario),
        stack_(stack),
        sharding_(sharding),
        data_parallel_(data_parallel),
        parameters_(parameters_of(stage)),
        mixed_(models::is_mixed(scenario.training.precision)),
        half_(mixed_ ? models::activation_bytes(scenario.training.precision) : 0.0),
        half_weights_(mixed_ && stack.at("half_precision_weights").value != 0) {}

  void fill(MemoryParts& parts) const {
    parts.parameters = Bytes(parameter_bytes());
    parts.gradients = Bytes(parameters_.trained * gradient_bytes() / (sharding_.gradients ? sharding_.ranks : 1));
    parts.optimizer = Bytes(optimizer_bytes());
    parts.buckets = Bytes(bucket_bytes());
  }

 private:
  [[nodiscard]] double gradient_bytes() const {
    return half_weights_ ? stack_.at("gradient_storage_bytes").value : full;
  }

  // Under autocast weights are full and their casts live as long as they do.
  [[nodiscard]] double parameter_bytes() const {
    if (!sharding_.parameters) return parameters_.all() * (half_weights_ ? half_ : full + half_);
    return parameters_.all() / sharding_.ranks * (has_main_copy() ? half_ : full) + gathered_bytes();
  }

  [[nodiscard]] bool has_main_copy() const { return half_weights_ && !sharding_.casts_parts; }

  // The root, the units that wait for their use, and the one in use.
  [[nodiscard]] double gathered_bytes() const {
    const double units = parameters_.all() - parameters_.root();
    const double at_once = stack_.at("gathers_in_flight").value + 1;
    const bool reshards = stack_.at("reshard_after_forward").value != 0;
    const double gathered = reshards ? std::min(units, at_once * parameters_.largest_unit) : units;
    return (parameters_.root() + gathered) * stack_.at("gather_bytes_per_parameter").value;
  }

  [[nodiscard]] double optimizer_bytes() const {
    // Parameter servers keep the state where they update.
    if (has_parameter_servers(chosen_reducer(scenario_.stack, stack_))) return 0;
    const double state = optimizer_state_bytes(scenario_.training.optimizer) + (has_main_copy() ? full : 0);
    return parameters_.trained * state / (sharding_.optimizer ? sharding_.ranks : 1);
  }

  [[nodiscard]] double bucket_bytes() const {
    const double buffers =
        sharing_buffers(as_model(stage_), scenario_, stack_, static_cast<int>(data_parallel_)).value;
    // Those of the root are complete when the last layer's backward pass is done.
    if (!sharding_.parameters || !sharding_.gradients) return buffers;
    return buffers + (parameters_.root_trained + parameters_.largest_unit_trained) *
                         stack_.at("gradient_bytes_per_parameter").value;
  }

  const Stage& stage_;
  const Scenario& scenario_;
  const calibrate::Stack& stack_;
  const Sharding& sharding_;
  std::int64_t data_parallel_;
  Parameters parameters_;
  bool mixed_;
  double half_;
  bool half_weights_;
};

// Passes in the order in which the stage runs them. On one stage micro-batches follow one another, and none leaves
// anything to the next.
std::vector<Turn> turns_of(const Scenario& scenario, const Stage& stage, int index, std::int64_t micro_batches) {
  const auto chunks = static_cast<int>(stage.size());
  if (scenario.plan.pipeline > 1) {
    const PipelineShape shape{static_cast<int>(scenario.plan.pipeline), chunks, micro_batches};
    return schedule_of(scenario.plan.schedule, shape, index);
  }
  std::vector<Turn> turns;
  for (int c = 0; c < chunks; ++c) turns.push_back({Pass::forward, c, 0});
  for (int c = chunks; c-- > 0;) turns.push_back({Pass::backward, c, 0});
  return turns;
}

// What passes hold, allocator losses included.
struct Held {
  double kept = 0, logits = 0;  // at their most
  double peak = 0;
};

Held most_held(const Stage& stage, const std::vector<Turn>& turns, models::Precision precision,
               const calibrate::Stack& stack) {
  struct ChunkBytes {
    double kept, logits, backward_peak, input_gradient_peak;
  };
  std::vector<ChunkBytes> chunks;
  for (const LocalModel& chunk : stage) {
    const std::vector<OperatorBytes> operators = operator_bytes(chunk, precision, stack);
    chunks.push_back({kept_bytes(operators), kept_logits(operators), backward_peak_bytes(operators),
                      input_gradient_peak_bytes(operators)});
  }
  Held held;
  double kept = 0, logits = 0;
  for (const Turn& turn : turns) {
    const ChunkBytes& chunk = chunks[static_cast<std::size_t>(turn.chunk)];
    if (turn.pass == Pass::forward) {
      kept += chunk.kept;
      logits += chunk.logits;
      held.kept = std::max(held.kept, kept);
      held.logits = std::max(held.logits, logits);
      held.peak = std::max(held.peak, kept);
      continue;
    }
    if (turn.pass == Pass::backward) held.peak = std::max(held.peak, kept + chunk.backward_peak);
    if (turn.pass == Pass::input_gradient) held.peak = std::max(held.peak, kept + chunk.input_gradient_peak);
    if (turn.pass == Pass::input_gradient) continue;
    kept -= chunk.kept;
    logits -= chunk.logits;
  }
  return held;
}

MemoryParts stage_memory(const Stage& stage, int index, const Scenario& scenario, const calibrate::Stack& stack,
                         const Sharding& sharding, const Batches& batches) {
  MemoryParts parts;
  StageState(stage, scenario, stack, sharding, batches.data_parallel).fill(parts);
  const std::vector<Turn> turns = turns_of(scenario, stage, index, batches.accumulation);
  const Held held = most_held(stage, turns, scenario.training.precision, stack);
  parts.logits = Bytes(held.logits / allocator_factor(stack));
  parts.activations = Bytes(held.kept / allocator_factor(stack)) - parts.logits;
  parts.framework = Bytes(stack.at("framework_memory_bytes").value);
  const Bytes resident = parts.parameters + parts.gradients + parts.optimizer + parts.buckets;
  parts.workspace = Bytes(held.peak) - parts.activations - parts.logits +
                    resident * stack.at("fragmentation_fraction").value;
  return parts;
}

std::vector<double> flops_of_layers(const LocalModel& model) {
  std::vector<double> flops;
  for (const LocalLayer& layer : model.layers) {
    flops.push_back(0);
    for (const LocalOperator& local : layer.operators) {
      flops.back() += (models::forward_flops(local.op) + models::backward_flops(local.op)).value;
    }
  }
  return flops;
}

}  // namespace

PlanMemory plan_memory(const std::vector<Stage>& stages, const Scenario& scenario, const calibrate::Stack& stack,
                       const Cluster& cluster) {
  const Batches batches = resolve_batches(scenario.training, scenario.plan, cluster.gpus);
  const Sharding sharding = sharding_of(scenario, stack, cluster, batches);
  PlanMemory memory;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    memory.stages.push_back(stage_memory(stages[s], static_cast<int>(s), scenario, stack, sharding, batches));
    if (memory.stages[s].total() > memory.of_fullest().total()) memory.fullest = s;
  }
  return memory;
}

PlanMemory plan_memory(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack,
                       const Cluster& cluster) {
  const LocalModel local = split(model, scenario, stack);
  return plan_memory(stages_of(local, scenario.plan, flops_of_layers(local)), scenario, stack, cluster);
}

}  // namespace foretrain::sim::strategies
