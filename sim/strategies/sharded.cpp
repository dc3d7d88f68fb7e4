#include "sim/strategies/sharded.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/plan_names.h"
#include "sim/stack_choice.h"
#include "sim/strategies/sharded_state.h"
#include "sim/strategies/sharded_units.h"

namespace foretrain::sim::strategies {
namespace {

constexpr const char* none = "none";
constexpr const char* key_of_group = "/plan/shard_group";
constexpr const char* collective_reducer = "ddp";

constexpr const char* key_of_reductions = "synchronize_every_micro_batch";

bool shards_parameters(const std::string& sharding) { return sharding == "zero3" || sharding == "hsdp"; }

[[noreturn]] void fail(const std::string& what, const std::string& hint) { throw Error(what, "/plan/sharding", hint); }

// Sizes of groups that `data_parallel` ranks can be cut into.
std::vector<int> possible_groups(int data_parallel) {
  std::vector<int> sizes;
  for (int size = 2; size <= data_parallel; ++size) {
    if (data_parallel % size == 0) sizes.push_back(size);
  }
  return sizes;
}

std::string nearest_groups(int group, int data_parallel) {
  int below = 0, above = 0;
  for (const int size : possible_groups(data_parallel)) {
    if (size < group) below = size;
    if (size > group && above == 0) above = size;
  }
  if (below == 0 || above == 0) return fmt::format("the nearest group has {} ranks", std::max(below, above));
  return fmt::format("the nearest groups have {} and {} ranks", below, above);
}

int hybrid_group(const Plan& plan, int data_parallel, int gpus_per_node) {
  const bool given = plan.shard_group > 0;
  // Tensor-parallel ranks are neighbours: a node has one data-parallel rank for every so many of its GPUs.
  const std::int64_t of_node = std::max<std::int64_t>(1, gpus_per_node / plan.tensor);
  const std::int64_t wanted = given ? plan.shard_group : std::min<std::int64_t>(of_node, data_parallel);
  if (wanted >= 2 && wanted <= data_parallel && data_parallel % wanted == 0) return static_cast<int>(wanted);
  const int group = static_cast<int>(std::min<std::int64_t>(wanted, data_parallel + 1LL));
  throw Error(given ? fmt::format("a shard group of {} of {} data-parallel ranks", wanted, data_parallel)
                    : fmt::format("the {} data-parallel ranks of a node make no shard group of {}", wanted,
                                  data_parallel),
              key_of_group, nearest_groups(group, data_parallel));
}

}  // namespace

void require_known_sharding(const Scenario& scenario, const calibrate::Stack& stack) {
  const Plan& plan = scenario.plan;
  const std::string& sharding = chosen_sharding(plan, stack);
  const std::vector<std::string>& names = sharding_names();
  if (std::find(names.begin(), names.end(), sharding) == names.end()) {
    fail("unknown sharding " + quoted(sharding), name_hint(sharding, names));
  }
  if (sharding == none) return;
  const std::string& reducer = chosen_reducer(scenario.stack, stack);
  if (reducer != collective_reducer) {
    fail(fmt::format("sharding {} does not go with reducer {}", sharding, printable(reducer)),
         fmt::format("it goes with reducer {}; or set plan.sharding to \"none\"", collective_reducer));
  }
  if (scenario.stack.compression != none) {
    fail(fmt::format("sharding {} does not go with compression {} of gradients", sharding,
                     printable(scenario.stack.compression)),
         "set stack.compression or plan.sharding to \"none\"");
  }
  if (plan.pipeline > 1 && sharding != "zero1") {
    fail(fmt::format("sharding {} does not go with {} pipeline stages: frameworks refuse it, as every micro-batch would "
                     "reduce or gather what its stage could keep",
                     sharding, plan.pipeline),
         "zero1 goes with a pipeline; or set plan.pipeline to 1");
  }
  if (shards_parameters(stack.sharding) && !shards_parameters(sharding)) {
    fail(fmt::format("stack {} shards parameters, which {} does not", printable(stack.name), sharding),
         "zero3 and hsdp do; SHARD_GRAD_OP is zero3 with stack.options.reshard_after_forward 0");
  }
  const calibrate::StackValue& reductions = stack.at(key_of_reductions);
  if (reductions.value == 0 && reductions.provenance == Provenance::given && keeps_gradients_in_parts(plan, stack)) {
    throw Error(fmt::format("sharding {} keeps gradients in parts, so that every micro-batch is reduced", sharding),
                std::string("/stack/options/") + key_of_reductions, "leave it out, or use zero1");
  }
}

int shard_ranks(const Plan& plan, const calibrate::Stack& stack, int data_parallel, int gpus_per_node) {
  const std::string& sharding = chosen_sharding(plan, stack);
  if (sharding == none || data_parallel == 1) return 1;
  return sharding == "hsdp" ? hybrid_group(plan, data_parallel, gpus_per_node) : data_parallel;
}

bool keeps_gradients_in_parts(const Plan& plan, const calibrate::Stack& stack) {
  const std::string& sharding = chosen_sharding(plan, stack);
  if (sharding == none || sharding == "zero1") return false;
  return !shards_parameters(stack.sharding) || stack.at(key_of_reductions).value != 0;
}

bool casts_parts_for_gathers(const Plan& plan, const calibrate::Stack& stack) {
  return shards_parameters(chosen_sharding(plan, stack)) && shards_parameters(stack.sharding);
}

std::unique_ptr<Reducer> make_sharded_reducer(StepWriter& writer) {
  const ComposeInput& input = writer.input();
  const Plan& plan = input.scenario.plan;
  require_known_sharding(input.scenario, input.stack);
  const std::string& sharding = chosen_sharding(plan, input.stack);
  assert(sharding != none);
  const bool parts = keeps_gradients_in_parts(plan, input.stack);
  if (!shards_parameters(sharding)) return std::make_unique<ShardedStateReducer>(writer, parts);
  const int ranks = shard_ranks(plan, input.stack, writer.layout().data(), input.cluster.machine.gpus);
  return std::make_unique<ShardedUnitsReducer>(writer, ranks, parts);
}

}  // namespace foretrain::sim::strategies
