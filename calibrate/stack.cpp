#include "calibrate/stack.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/parse.h"

namespace foretrain::calibrate {

namespace {

struct StackKey {
  const char* name;
  StackRange range;
};

constexpr StackRange fraction{0, 1}, positive_fraction{0, 1, false, true}, yes_or_no{0, 1, true};
constexpr StackRange seconds{0, 1e4}, bytes{0, 1e13}, spread{0, 3}, factor{0, 100};

const std::vector<StackKey>& keys() {
  static const std::vector<StackKey> table = {
      // host and device
      {"host_seconds_per_launch_forward", seconds},
      {"host_seconds_per_launch_backward", seconds},
      {"host_seconds_per_optimizer_launch", seconds},
      {"host_seconds_per_step", seconds},
      {"fused_attention", yes_or_no},
      {"attention_generation", {1, 3, true}},
      {"fused_optimizer", yes_or_no},
      {"fused_elementwise", yes_or_no},
      {"half_precision_weights", yes_or_no},
      {"fused_gradient_sum", yes_or_no},
      {"gradient_storage_bytes", {0, 16, false, true}},
      {"gradient_norm", yes_or_no},
      {"vocabulary_multiple", {1, 65536, true}},
      {"framework_memory_bytes", bytes},
      {"fragmentation_fraction", fraction},
      // what several GPUs add
      {"distributed_host_seconds_per_step", seconds},
      {"distributed_host_seconds_per_local_gpu", seconds},
      {"distributed_compute_slowdown", {0, 10}},
      {"compute_slowdown_while_communicating", {0, 0.95}},  // of all of it, kernels would stand still
      {"step_jitter", fraction},
      {"node_jitter_factor", factor},
      {"network_share", positive_fraction},
      // gradients by buckets and collectives
      {"gradient_bytes_per_parameter", {0, 16, false, true}},
      {"first_bucket_bytes", bytes},
      {"bucket_bytes", bytes},
      {"overlap", fraction},
      {"collective_launch_seconds", seconds},
      {"hierarchical", yes_or_no},
      {"cycle_seconds", seconds},
      {"negotiation_seconds", seconds},
      {"synchronize_every_micro_batch", yes_or_no},
      {"gradient_as_bucket_view", yes_or_no},
      {"find_unused_parameters", yes_or_no},
      {"static_graph", yes_or_no},
      {"powersgd_rank", {1, 65536, true}},
      {"top_k_fraction", positive_fraction},
      // tensor and pipeline parallelism
      {"tensor_overlap", fraction},
      {"repeated_gather_overlap", fraction},
      {"pipeline_overlap", yes_or_no},
      {"scatter_gather_transfers", yes_or_no},
      // sharded state
      {"gather_bytes_per_parameter", {0, 16, false, true}},
      {"reshard_after_forward", yes_or_no},
      {"prefetched_units", {0, 1024, true}},
      {"blocking_gathers", yes_or_no},
      {"gathers_in_flight", {1, 1024, true}},
      {"overlap_parameter_gather", yes_or_no},
      // parameter servers
      {"servers", {0, 1e6, true}},
      {"servers_apart", yes_or_no},
      {"servers_on_gpu", yes_or_no},
      {"variables_sharded", yes_or_no},
      {"asynchronous", yes_or_no},
      {"local_aggregation", yes_or_no},
      {"server_bytes_per_second", {1e6, 1e15}},
      {"server_network_share", positive_fraction},
      // how sure
      {"repeat_spread", spread},
      {"unmodelled_spread", spread},
      {"scaling_loss_floor", spread},
      {"scaling_loss_slope", spread},
      {"scaling_loss_below", factor},
      {"scaling_loss_above", factor},
      {"scaling_loss_factor", factor}};
  return table;
}

}  // namespace

const std::vector<std::string>& stack_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const StackKey& key : keys()) all.emplace_back(key.name);
    return all;
  }();
  return names;
}

const StackRange& stack_range(const std::string& key) {
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const StackKey& known) { return known.name == key; });
  assert(found != keys().end());
  return found->range;
}

bool StackRange::contains(double value) const {
  if (whole && value != std::floor(value)) return false;
  return (above_low ? value > low : value >= low) && value <= high;
}

std::string StackRange::words() const {
  if (whole && low == 0 && high == 1) return "0 (no) or 1 (yes)";
  return fmt::format("a {}number {} {} to {}", whole ? "whole " : "", above_low ? "above" : "from", low, high);
}

const StackValue& Stack::at(const std::string& key) const {
  const auto found = values.find(key);
  assert(found != values.end());
  return found->second;
}

Stack parse_stack(const JsonView& value) {
  value.allow_only({"name", "like", "reducer", "sharding", "description", "values"});
  Stack stack;
  stack.name = value.at("name").string();
  stack.reducer = value.at("reducer").string();
  if (const auto sharding = value.find("sharding")) stack.sharding = sharding->string();
  stack.description = value.at("description").string();
  const JsonView values = value.at("values");
  values.allow_only(stack_keys());
  for (const std::string& key : stack_keys()) {
    const JsonView entry = values.at(key);
    entry.allow_only({"value", "unit", "doc", "relative_spread", "provenance", "source"});
    const Evidence evidence = parse_evidence(entry);
    const double number = entry.at("value").number();
    if (!stack_range(key).contains(number)) entry.at("value").fail("out of range", stack_range(key).words());
    stack.values[key] = {number, evidence.relative_spread, evidence.provenance,
                         evidence.source, entry.at("unit").string(), entry.at("doc").string()};
  }
  return stack;
}

}  // namespace foretrain::calibrate
