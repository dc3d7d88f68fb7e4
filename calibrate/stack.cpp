#include "calibrate/stack.h"

#include <cassert>

#include "calibrate/parse.h"

namespace foretrain::calibrate {

const std::vector<std::string>& stack_keys() {
  static const std::vector<std::string> keys = {
      // host and device
      "host_seconds_per_launch_forward", "host_seconds_per_launch_backward", "host_seconds_per_step",
      "fused_attention", "fused_optimizer", "framework_memory_bytes", "fragmentation_fraction",
      // what several GPUs add
      "distributed_host_seconds_per_step", "distributed_host_seconds_per_local_gpu", "distributed_compute_slowdown",
      "compute_slowdown_while_communicating", "step_jitter", "node_jitter_factor", "network_share",
      // gradients by buckets and collectives
      "gradient_bytes_per_parameter", "first_bucket_bytes", "bucket_bytes", "overlap", "collective_launch_seconds",
      "hierarchical", "cycle_seconds", "negotiation_seconds", "synchronize_every_micro_batch",
      "gradient_as_bucket_view", "find_unused_parameters", "static_graph", "powersgd_rank", "top_k_fraction",
      // parameter servers
      "servers", "servers_apart", "servers_on_gpu", "variables_sharded", "asynchronous", "local_aggregation",
      "server_bytes_per_second", "server_network_share",
      // how sure
      "unmodelled_spread", "scaling_loss_floor", "scaling_loss_slope", "scaling_loss_below", "scaling_loss_above",
      "scaling_loss_factor"};
  return keys;
}

const StackValue& Stack::at(const std::string& key) const {
  const auto found = values.find(key);
  assert(found != values.end());
  return found->second;
}

Stack parse_stack(const JsonView& value) {
  value.allow_only({"name", "like", "reducer", "description", "values"});
  Stack stack;
  stack.name = value.at("name").string();
  stack.reducer = value.at("reducer").string();
  stack.description = value.at("description").string();
  const JsonView values = value.at("values");
  values.allow_only(stack_keys());
  for (const std::string& key : stack_keys()) {
    const JsonView entry = values.at(key);
    entry.allow_only({"value", "unit", "doc", "relative_spread", "provenance", "source"});
    const Evidence evidence = parse_evidence(entry);
    stack.values[key] = {entry.at("value").number({0, 1e15}), evidence.relative_spread, evidence.provenance,
                         evidence.source, entry.at("unit").string(), entry.at("doc").string()};
  }
  return stack;
}

}  // namespace foretrain::calibrate
