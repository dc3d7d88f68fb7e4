#include "scenarios/corpus/batch_plan.h"

#include <algorithm>
#include <numeric>

namespace foretrain::scenarios {
namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// `local` samples in equal parts of at most `limit`: the fewest that divide, or the fewest of all where twice as many
// would be needed.
StepBatch split(std::int64_t local, std::int64_t limit) {
  StepBatch step;
  const std::int64_t fewest = divided_up(local, limit);
  step.accumulation = fewest;
  while (step.accumulation <= 2 * fewest && local % step.accumulation != 0) ++step.accumulation;
  if (local % step.accumulation != 0) step.accumulation = fewest;
  step.micro = divided_up(local, step.accumulation);
  return step;
}

// The largest number up to `limit` that divides the share of every count; 0 where the batch is no multiple of them.
std::int64_t common_micro_batch(std::int64_t global, const std::vector<std::int64_t>& gpus, std::int64_t limit) {
  std::int64_t common = 0;
  for (const std::int64_t count : gpus) {
    if (global % count != 0) return 0;
    common = std::gcd(common, global / count);
  }
  for (std::int64_t micro = std::min(common, limit); micro > 0; --micro) {
    if (common % micro == 0) return micro;
  }
  return 0;
}

}  // namespace

std::vector<StepBatch> plan_batches(BatchRule rule, std::int64_t batch, const std::vector<std::int64_t>& gpus,
                                    const GpuMemory& memory) {
  const bool is_global = rule == BatchRule::global;
  const auto local_on = [&](std::int64_t count) { return is_global ? divided_up(batch, count) : batch; };
  const std::int64_t largest = local_on(gpus.front());
  const std::int64_t limit = memory.may_hold(largest) ? largest : memory.largest_that_fits(largest);
  if (limit == 0) return {};
  const std::int64_t shared = is_global && limit < largest ? common_micro_batch(batch, gpus, limit) : 0;
  const bool is_constant = 4 * shared >= std::min(limit, local_on(gpus.back()));
  std::vector<StepBatch> steps;
  for (const std::int64_t count : gpus) {
    StepBatch step = split(local_on(count), limit);
    if (shared > 0 && is_constant) {
      step.micro = shared;
      step.accumulation = batch / count / shared;
    }
    step.gpus = is_global ? std::min(count, batch) : count;
    step.samples = static_cast<double>(batch) * (is_global ? 1.0 : static_cast<double>(count));
    steps.push_back(step);
  }
  return steps;
}

}  // namespace foretrain::scenarios
