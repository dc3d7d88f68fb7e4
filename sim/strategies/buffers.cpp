#include "sim/strategies/buffers.h"

#include <algorithm>

#include "models/precision.h"
#include "sim/stack_choice.h"
#include "sim/strategies/bucketed.h"
#include "sim/strategies/buckets.h"
#include "sim/strategies/powersgd.h"
#include "sim/strategies/reducer.h"
#include "sim/strategies/top_k.h"

namespace foretrain::sim::strategies {
namespace {

const double full = models::activation_bytes(models::Precision::fp32);
const double half = models::activation_bytes(models::Precision::fp16);

double reducer_bytes(const std::string& reducer, double elements, const calibrate::Stack& stack) {
  if (reducer == "horovod") return stack.at("bucket_bytes").value;
  if (reducer == "local_sgd") return elements * full;
  const bool buckets = reducer == "ddp" || reducer == "mirrored" || reducer == "multi_worker_mirrored";
  return buckets && stack.at("gradient_as_bucket_view").value == 0 ? elements * full : 0.0;
}

// Gradients leave their bucket in parts, so that there is never more than one; units of sharded parameters have none.
double sharded_bytes(const std::string& sharding, const std::vector<ReadyGradient>& gradients,
                     const calibrate::Stack& stack) {
  const bool buckets = sharding == "zero1" || sharding == "zero2";
  if (!buckets || stack.at("gradient_as_bucket_view").value != 0) return 0;
  const BucketLimits limits = ddp_limits(stack);
  double largest = 0;
  for (const Bucket& bucket : assign_buckets(gradients, limits.first, limits.further)) {
    largest = std::max(largest, bucket.elements);
  }
  return largest * stack.at("gradient_bytes_per_parameter").value;
}

double compression_bytes(const std::string& compression, const std::vector<ReadyGradient>& gradients, double elements,
                         const calibrate::Stack& stack, double ranks) {
  const double word = stack.at("gradient_bytes_per_parameter").value;
  if (compression == "fp16" || compression == "bf16") return elements * half;
  if (compression == "powersgd") {
    const LowRankBucket parts = low_rank(gradients, stack.at("powersgd_rank").value);
    return (elements + parts.vector_elements + parts.left_elements() + parts.right_elements()) * word;
  }
  if (compression == "top_k") {
    const double chosen = chosen_elements(elements, stack.at("top_k_fraction").value);
    return elements * word + ranks * chosen * (word + index_bytes);
  }
  if (compression == "onebit_adam") {
    constexpr double signs_sent_and_received = 2, bits_per_byte = 8;
    return (elements + elements / ranks) * full + signs_sent_and_received * elements / bits_per_byte;
  }
  return 0;
}

}  // namespace

Bytes sharing_buffers(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack, int ranks) {
  if (ranks < 2) return Bytes(0);
  const std::vector<ReadyGradient> gradients = ready_order(model, scenario.plan);
  double elements = 0;
  for (const ReadyGradient& gradient : gradients) elements += gradient.elements;
  const std::string& sharding = chosen_sharding(scenario.plan, stack);
  if (sharding != "none") return Bytes(sharded_bytes(sharding, gradients, stack));
  return Bytes(reducer_bytes(chosen_reducer(scenario.stack, stack), elements, stack) +
               compression_bytes(scenario.stack.compression, gradients, elements, stack, ranks));
}

}  // namespace foretrain::sim::strategies
