#include "sim/memory.h"

#include <map>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"

namespace foretrain::sim {
namespace {

bool fused_attention(const calibrate::Stack& stack) { return stack.at("fused_attention").value != 0; }

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

double resident_bytes(const MemoryParts& parts, const calibrate::Stack& stack) {
  const Bytes losable = parts.parameters + parts.gradients + parts.optimizer + parts.buckets;
  return (losable * allocator_factor(stack) + parts.framework).value;
}

}  // namespace foretrain::sim
