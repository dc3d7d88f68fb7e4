// Of a family draft: what a step trains on each number of GPUs, and what the anchor's step measured.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/corpus/family_draft.h"
#include "sim/stack_choice.h"
#include "sim/gpu_memory.h"
#include "sim/workload.h"

namespace foretrain::scenarios {

std::int64_t FamilyDraft::batch_in_samples() const {
  if (row_.rule == BatchRule::not_stated) {
    return static_cast<std::int64_t>(tables_.batches.first(texts_)->assumed_batch_per_gpu);
  }
  const double samples = units_.batch_in_units ? row_.batch / units_.per_sample : row_.batch;
  return std::max<std::int64_t>(1, std::llround(samples));
}

double FamilyDraft::anchor_step_seconds() const {
  if (measures_seconds(row_)) return row_.values.front();
  const bool is_global = row_.rule == BatchRule::global;
  const double gpus = is_global ? 1 : static_cast<double>(row_.gpus.front());
  const double batch = row_.batch > 0 && units_.batch_in_units
                           ? row_.batch
                           : static_cast<double>(batch_in_samples()) * units_.per_sample;
  return gpus * batch / row_.values.front();
}

double FamilyDraft::anchor_samples_per_second() const {
  const double gpus = row_.rule == BatchRule::global ? 1 : static_cast<double>(row_.gpus.front());
  return gpus * static_cast<double>(batch_in_samples()) / anchor_step_seconds();
}

// By the closed form, with what the smallest number of GPUs holds.
GpuMemory FamilyDraft::gpu_memory() const {
  sim::Scenario smallest = scenario_;
  smallest.cluster.gpus = row_.gpus.front();
  smallest.training.global_batch = 0;  // as many micro-batches as there are GPUs
  sim::Cluster cluster;
  cluster.gpus = static_cast<int>(std::max<std::int64_t>(2, row_.gpus.front()));  // as one of several
  cluster.machine.gpus = static_cast<int>(node_.gpus);
  cluster.device = node_.device;
  const auto taken = [this, smallest, cluster,
                      chosen = sim::chosen_stack(scenario_.stack, catalogue_)](std::int64_t micro_batch) {
    const models::Model model = sim::build_workload(smallest, micro_batch, catalogue_.data());
    return sim::gpu_memory(model, smallest, chosen, cluster);
  };
  const Bytes capacity = node_.device->memory, at_most = capacity * tables_.batches.first(texts_)->memory_factor;
  GpuMemory memory;
  memory.may_hold = [taken, at_most](std::int64_t micro_batch) { return taken(micro_batch) <= at_most; };
  memory.largest_that_fits = [taken, capacity](std::int64_t up_to) {
    std::int64_t low = 0, high = up_to + 1;  // low fits (0 = nothing does), high does not
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (taken(middle) <= capacity ? low : high) = middle;
    }
    return low;
  };
  return memory;
}

Reason FamilyDraft::map_batches() {
  if (row_.gpus.size() < 2) return unsupported("a single number of GPUs");
  const BatchFact& limits = *tables_.batches.first(texts_);
  steps_ = plan_batches(row_.rule, batch_in_samples(), row_.gpus, gpu_memory());
  if (steps_.empty()) return unsupported("model larger than the GPU");
  if (row_.rule == BatchRule::not_stated) {
    notes_.push_back(fmt::format("batch not stated: {} per GPU assumed", batch_in_samples()));
  }
  const double micro_seconds = anchor_step_seconds() / static_cast<double>(steps_.front().accumulation);
  if (micro_seconds < limits.least_micro_batch_seconds || micro_seconds > limits.most_micro_batch_seconds) {
    return unsupported("units of metric and batch that make no plausible step");
  }
  for (const StepBatch& step : steps_) {
    if (!carries_over(step)) return unsupported("global batch that does not divide");
  }
  return std::nullopt;
}

// Whether the anchor's step, as a step of this point's training, is the one that was measured.
bool FamilyDraft::carries_over(const StepBatch& step) const {
  const StepBatch& anchor = steps_.front();
  return step.global() == anchor.global() || step.accumulation == anchor.accumulation;
}

}  // namespace foretrain::scenarios
