#include "sim/strategies/batches.h"

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain::sim::strategies {
namespace {

std::int64_t model_parallel(const Plan& plan) { return plan.tensor * plan.pipeline * plan.context; }

// The largest micro-batch up to `wanted` that divides `per_gpu` samples.
std::int64_t largest_divisor(std::int64_t per_gpu, std::int64_t wanted) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= per_gpu; ++d) {
    if (per_gpu % d != 0) continue;
    for (const std::int64_t candidate : {d, per_gpu / d}) {
      if (candidate <= wanted && candidate > best) best = candidate;
    }
  }
  return best;
}

[[noreturn]] void fail_uneven(const Training& training, std::int64_t data_parallel) {
  const std::int64_t unit = training.micro_batch * data_parallel;
  const std::int64_t below = training.global_batch / unit * unit;
  std::string hint = below > 0 ? fmt::format("nearest global batches: {} and {}", below, below + unit)
                               : fmt::format("the smallest global batch is {}", unit);
  if (training.global_batch % data_parallel == 0) {
    const std::int64_t per_gpu = training.global_batch / data_parallel;
    hint +=
        fmt::format("; or keep it and set training.micro_batch to {}", largest_divisor(per_gpu, training.micro_batch));
  } else if (training.global_batch < data_parallel) {
    hint += fmt::format("; {} samples cannot keep {} GPUs busy", training.global_batch, data_parallel);
  }
  throw Error(fmt::format("global batch {} is not a multiple of micro-batch {} × {} data-parallel GPUs = {}",
                          training.global_batch, training.micro_batch, data_parallel, unit),
              "/training/global_batch", hint);
}

}  // namespace

Batches resolve_batches(const Training& training, const Plan& plan, std::int64_t gpus) {
  const std::int64_t shards = model_parallel(plan);
  if (shards < 1 || gpus < 1 || gpus % shards != 0) {
    throw Error(fmt::format("{} GPUs cannot be split into tensor {} × pipeline {} × context {}", gpus, plan.tensor,
                            plan.pipeline, plan.context),
                "/cluster/gpus", fmt::format("use a multiple of {}", shards));
  }
  if (training.micro_batch < 1) {
    throw Error(fmt::format("micro-batch {} is not positive", training.micro_batch), "/training/micro_batch",
                "samples per GPU per forward pass, at least 1");
  }
  Batches batches;
  batches.data_parallel = gpus / shards;
  batches.micro = training.micro_batch;
  const std::int64_t unit = batches.micro * batches.data_parallel;
  batches.global = training.global_batch == 0 ? unit : training.global_batch;
  if (batches.global < 1 || batches.global % unit != 0) fail_uneven(training, batches.data_parallel);
  batches.accumulation = batches.global / unit;
  return batches;
}

Training rescaled(const Training& training, const Batches& batches, std::int64_t data_parallel) {
  Training result = training;
  result.global_batch =
      training.scaling == Scaling::strong ? batches.global : batches.micro * batches.accumulation * data_parallel;
  return result;
}

}  // namespace foretrain::sim::strategies
