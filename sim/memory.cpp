#include "sim/memory.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/server_links.h"
#include "sim/stack_choice.h"
#include "sim/strategies/buffers.h"
#include "sim/workload.h"

namespace foretrain::sim {
namespace {

bool fused_attention(const calibrate::Stack& stack) { return stack.at("fused_attention").value != 0; }

// The most that saved activations and gradients of activations take together, allocator losses included:
// forward fills up what is saved; backward goes back, and operator i frees its own only when it is done.
double dynamic_peak(const models::Model& model, models::Precision precision, const calibrate::Stack& stack) {
  std::vector<DynamicBytes> bytes;
  const models::Operator* before = nullptr;
  double saved = 0;
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) {
      bytes.push_back(dynamic_bytes(op, before, precision, stack));
      saved += bytes.back().saved;
      before = &op;
    }
  }
  double peak = saved, output_gradient = 0, kept = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    kept += bytes[i].saved;
    if (!bytes[i].has_backward) continue;
    peak = std::max(peak, saved + bytes[i].input_gradient + output_gradient);
    saved -= std::exchange(kept, 0.0);
    output_gradient = bytes[i].input_gradient;
  }
  return peak;
}

std::int64_t largest_micro_batch_that_fits(Bytes capacity, const Scenario& scenario, const calibrate::Stack& stack,
                                           bool distributed, const DataStore& data) {
  const auto fits = [&](std::int64_t micro_batch) {
    const models::Model model = build_workload(scenario, micro_batch, data);
    const int ranks = distributed ? static_cast<int>(scenario.cluster.gpus) : 1;
    return data_parallel_memory(model, scenario, stack, ranks).total() <= capacity;
  };
  std::int64_t low = 0, high = scenario.training.micro_batch;  // low fits (0 = nothing does), high does not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

Bytes MemoryParts::total() const {
  return parameters + gradients + optimizer + activations + logits + buckets + workspace + framework;
}

double allocator_factor(const calibrate::Stack& stack) { return 1.0 + stack.at("fragmentation_fraction").value; }

double optimizer_state_bytes(const std::string& optimizer) {
  static const std::map<std::string, double> states = {{"sgd", 1}, {"adam", 2}, {"adamw", 2}, {"lamb", 2}};
  const auto found = states.find(optimizer);
  if (found == states.end()) {
    std::vector<std::string> names;
    for (const auto& [name, count] : states) names.push_back(name);
    throw Error("unknown optimizer " + quoted(optimizer), "/training/optimizer", name_hint(optimizer, names));
  }
  return found->second * models::activation_bytes(models::Precision::fp32);
}

DynamicBytes dynamic_bytes(const models::Operator& op, const models::Operator* before, models::Precision precision,
                           const calibrate::Stack& stack) {
  const double element = models::activation_bytes(precision) * allocator_factor(stack);
  DynamicBytes bytes;
  bytes.saved = op.saved_elements * element;
  if (const auto* attention = std::get_if<models::AttentionShape>(&op.shape); attention && !fused_attention(stack)) {
    bytes.saved += models::unfused_saved_elements(*attention) * element;
  }
  bytes.has_backward = !op.forward_only;
  if (before != nullptr && op.needs_input_gradient && bytes.has_backward)
    bytes.input_gradient = before->output_elements * element;
  return bytes;
}

MemoryParts data_parallel_memory(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack,
                                 int ranks) {
  const Training& training = scenario.training;
  const double full = models::activation_bytes(models::Precision::fp32);
  const double half = models::is_mixed(training.precision) ? models::activation_bytes(training.precision) : 0.0;
  const double count = models::parameter_count(model);
  MemoryParts parts;
  parts.parameters = Bytes((count + models::frozen_parameter_count(model)) * (full + half));
  parts.gradients = Bytes(count * full);
  // Parameter servers keep the state where they update.
  const bool updates = !has_parameter_servers(chosen_reducer(scenario.stack, stack));
  parts.optimizer = Bytes(updates ? count * optimizer_state_bytes(training.optimizer) : 0.0);
  const double saved =
      models::saved_elements(model) + (fused_attention(stack) ? 0.0 : models::unfused_saved_elements(model));
  parts.activations = Bytes(saved * models::activation_bytes(training.precision));
  parts.buckets = strategies::sharing_buffers(model, scenario, stack, ranks);
  parts.framework = Bytes(stack.at("framework_memory_bytes").value);
  const Bytes resident = parts.parameters + parts.gradients + parts.optimizer + parts.buckets;
  parts.workspace = Bytes(dynamic_peak(model, training.precision, stack)) - parts.activations +
                    resident * stack.at("fragmentation_fraction").value;
  return parts;
}

double resident_bytes(const MemoryParts& parts, const calibrate::Stack& stack) {
  const Bytes losable = parts.parameters + parts.gradients + parts.optimizer + parts.buckets;
  return (losable * allocator_factor(stack) + parts.framework).value;
}

std::string memory_advice(const MemoryParts& parts, Bytes capacity, const Scenario& scenario,
                          const calibrate::Stack& stack, bool distributed, const DataStore& data) {
  const std::int64_t fitting = largest_micro_batch_that_fits(capacity, scenario, stack, distributed, data);
  if (fitting > 0) {
    return fmt::format("micro-batch {} fits (now {}); keep the global batch by accumulating gradients", fitting,
                       scenario.training.micro_batch);
  }
  const std::vector<std::pair<const char*, Bytes>> categories = {
      {"parameters", parts.parameters},   {"gradients", parts.gradients}, {"optimizer state", parts.optimizer},
      {"activations", parts.activations}, {"buckets", parts.buckets},     {"workspace", parts.workspace},
      {"framework", parts.framework}};
  const auto largest = std::max_element(categories.begin(), categories.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format(
      "not even micro-batch 1 fits: {} alone take {} of {}; a GPU with more memory, or sharding the "
      "state over GPUs, is needed",
      largest->first, format_bytes(largest->second), format_bytes(capacity));
}

}  // namespace foretrain::sim
