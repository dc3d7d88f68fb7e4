#include "scenarios/batches.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "scenarios/fields.h"

namespace foretrain::scenarios {
namespace {

std::int64_t replica_size(const sim::Plan& plan) { return plan.tensor * plan.pipeline * plan.context; }

// Which of the user's words an error about the batch is about.
std::string blamed_key(const sim::Scenario& scenario, const OwnBatches& own, Pinned pinned) {
  if (pinned.global_batch) return "training.global_batch";
  if (pinned.micro_batch) return "training.micro_batch";
  return scenario.cluster.gpus == own.gpus ? "training.global_batch" : "cluster.gpus";
}

// The degree of the plan that was changed from outside, if one was.
std::optional<std::string> changed_degree(const Document& document) {
  std::optional<std::string> changed;
  for (const char* degree : {"plan.tensor", "plan.pipeline", "plan.context"}) {
    if (document.is_changed(degree)) changed = degree;
  }
  return changed;
}

// The multiples of `unit` next to `value`.
std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
  const std::int64_t below = value / unit * unit;
  if (below == 0) return fmt::format("the smallest that does is {}", unit);
  return fmt::format("{} and {} do", below, below + unit);
}

void keep_global_batch(sim::Scenario& scenario, std::int64_t kept, Pinned pinned, bool may_round) {
  const std::int64_t ranks = data_parallel_degree(scenario);
  sim::Training& training = scenario.training;
  training.global_batch = kept;
  if (pinned.micro_batch || ranks == 0) return;
  const std::int64_t per_pass = ranks * training.micro_batch;
  const std::int64_t accumulation = std::max<std::int64_t>(1, (kept + per_pass - 1) / per_pass);
  const std::int64_t share = kept / (ranks * accumulation);
  const bool exact = share * ranks * accumulation == kept;
  if (share == 0 || (!exact && !may_round)) return;
  training.micro_batch = share;
  training.global_batch = share * ranks * accumulation;
}

}  // namespace

std::int64_t data_parallel_degree(const sim::Scenario& scenario) {
  return scenario.cluster.gpus / replica_size(scenario.plan);
}

OwnBatches own_batches(const sim::Scenario& file) {
  return {file.cluster.gpus, file.training.micro_batch, file.training.global_batch, data_parallel_degree(file)};
}

void rescale_batches(const Document& document, sim::Scenario& scenario, const OwnBatches& own, Pinned pinned,
                     bool may_round) {
  if (pinned.global_batch) return;
  const bool same_gpus = scenario.cluster.gpus == own.gpus;
  if (same_gpus && data_parallel_degree(scenario) == own.data_parallel) return;
  if (scenario.training.scaling == sim::Scaling::strong) {
    const std::int64_t kept = own.global_batch > 0 ? own.global_batch : own.micro_batch * own.data_parallel;
    if (kept > 0) keep_global_batch(scenario, kept, pinned, may_round);
    return;
  }
  if (same_gpus) return;
  const std::int64_t grown = own.global_batch * scenario.cluster.gpus;
  if (grown % own.gpus != 0) {
    document.fail("cluster.gpus",
                  fmt::format("the global batch {} of {} GPUs makes no whole number for {} GPUs under weak scaling",
                              own.global_batch, own.gpus, scenario.cluster.gpus),
                  "give training.global_batch too");
  }
  scenario.training.global_batch = grown / own.gpus;
}

void check_batches(const Document& document, const sim::Scenario& scenario, const OwnBatches& own, Pinned pinned) {
  const std::int64_t replica = replica_size(scenario.plan), gpus = scenario.cluster.gpus;
  if (gpus % replica != 0) {
    document.fail(changed_degree(document).value_or("cluster.gpus"),
                  fmt::format("{} GPUs do not divide into replicas of {} (tensor · pipeline · context)", gpus, replica),
                  nearest_multiples(gpus, replica));
  }
  const std::int64_t ranks = data_parallel_degree(scenario);
  if (ranks % scenario.plan.expert != 0) {
    document.fail("plan.expert",
                  fmt::format("the data-parallel degree {} is not divisible by the expert-parallel degree {}", ranks,
                              scenario.plan.expert));
  }
  const std::int64_t global = scenario.training.global_batch, per_pass = scenario.training.micro_batch * ranks;
  if (global == 0) return;
  const bool by_plan = !pinned.global_batch && !pinned.micro_batch && scenario.cluster.gpus == own.gpus &&
                       ranks != own.data_parallel;
  const std::string usual = blamed_key(scenario, own, pinned);
  const std::string key = by_plan ? changed_degree(document).value_or(usual) : usual;
  if (static_cast<double>(global) > largest_global_batch) {
    document.fail(key, fmt::format("the global batch becomes {}, more than {}", global, largest_global_batch));
  }
  if (global % per_pass != 0) {
    document.fail(key,
                  fmt::format("the global batch {} is not divisible by micro_batch {} times {} data-parallel ranks",
                              global, scenario.training.micro_batch, ranks),
                  nearest_multiples(global, per_pass) + "; without global_batch it is micro_batch times the ranks");
  }
}

}  // namespace foretrain::scenarios
