#include "sim/strategies/memory_advice.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/stack_choice.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/schedule.h"
#include "sim/strategies/sharded.h"
#include "sim/workload.h"

namespace foretrain::sim::strategies {
namespace {

constexpr std::int64_t most_gpus_advised = 16384;
constexpr std::int64_t most_stages_advised = 128;

struct Change {
  std::string words;
  std::vector<std::string> settings;  // "plan.tensor=2", as --set takes them
  std::function<void(Scenario&)> apply;
};
// Changes of one thing, the gentlest first.
using Kind = std::vector<Change>;

class Adviser {
 public:
  Adviser(const Scenario& scenario, const calibrate::Stack& stack, const Cluster& cluster, const DataStore& data)
      : scenario_(scenario),
        stack_(stack),
        cluster_(cluster),
        data_(data),
        batches_(resolve_batches(scenario.training, scenario.plan, cluster.gpus)) {}

  // Empty when nothing that it knows is enough.
  [[nodiscard]] std::vector<Change> smallest() const {
    const std::vector<Kind> kinds = {micro_batches(), recompute(), sharding(), tensor(), pipeline(), gpus()};
    for (const Kind& kind : kinds) {
      for (const Change& change : kind) {
        if (fits({change}) == true) return {change};
      }
    }
    std::vector<Change> changes = together(kinds);
    return changes.empty() ? of_everything() : changes;
  }

 private:
  // Each kind's strongest change that is possible, until they are enough; then without those that are not needed.
  [[nodiscard]] std::vector<Change> together(const std::vector<Kind>& kinds) const {
    std::vector<Change> changes;
    for (const Kind& kind : kinds) {
      std::optional<Change> strongest;
      for (const Change& change : kind) {
        changes.push_back(change);
        const std::optional<bool> fit = fits(changes);
        if (fit == true) return without_the_needless(std::move(changes));
        changes.pop_back();
        if (fit) strongest = change;
      }
      if (strongest) changes.push_back(*strongest);
    }
    return {};
  }

  // Micro-batch 1, full recompute and state in shards on as many GPUs, stages and tensor-parallel ranks as it takes, in
  // that order of reluctance; then without what is not needed.
  [[nodiscard]] std::vector<Change> of_everything() const {
    const Plan& now = scenario_.plan;
    for (std::int64_t factor = 1; factor * cluster_.gpus <= most_gpus_advised; factor *= 2) {
      for (std::int64_t stages = now.pipeline; stages <= most_stages_advised; stages *= 2) {
        for (std::int64_t tensor = now.tensor; tensor <= cluster_.machine.gpus; tensor *= 2) {
          for (const char* sharding : {"zero1", "zero3"}) {
            std::vector<Change> changes = everything(factor, stages, tensor, sharding);
            if (fits(changes) == true) return without_the_needless(std::move(changes));
          }
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<Change> everything(std::int64_t factor, std::int64_t stages, std::int64_t tensor,
                                               const std::string& sharding) const {
    const std::int64_t count = factor * cluster_.gpus;
    const std::int64_t global =
        scenario_.training.scaling == Scaling::strong ? batches_.global : batches_.global * factor;
    std::vector<Change> changes;
    const auto add = [&](std::string words, std::vector<std::string> settings, std::function<void(Scenario&)> apply) {
      changes.push_back({std::move(words), std::move(settings), std::move(apply)});
    };
    if (batches_.micro > 1 || factor > 1) {
      add(fmt::format("micro-batch 1, global batch {}", global),
          {"training.micro_batch=1", fmt::format("training.global_batch={}", global)}, [global](Scenario& scenario) {
            scenario.training.micro_batch = 1;
            scenario.training.global_batch = global;
          });
    }
    if (scenario_.plan.recompute != "full") changes.push_back(recompute().back());
    add("state in shards", {"plan.sharding=" + sharding},
        [sharding](Scenario& scenario) { scenario.plan.sharding = sharding; });
    if (tensor != scenario_.plan.tensor) {
      add(fmt::format("tensor parallelism of {} GPUs", tensor), {fmt::format("plan.tensor={}", tensor)},
          [tensor](Scenario& scenario) { scenario.plan.tensor = tensor; });
    }
    if (tensor > 1 && !scenario_.plan.sequence_parallel) {
      add("sequence parallelism", {"plan.sequence_parallel=true"},
          [](Scenario& scenario) { scenario.plan.sequence_parallel = true; });
    }
    if (stages != scenario_.plan.pipeline) {
      add(fmt::format("a pipeline of {} stages", stages), {fmt::format("plan.pipeline={}", stages)},
          [stages](Scenario& scenario) { scenario.plan.pipeline = stages; });
    }
    if (factor > 1) {
      add(fmt::format("{} GPUs", count), {fmt::format("cluster.gpus={}", count)},
          [count](Scenario& scenario) { scenario.cluster.gpus = count; });
    }
    return changes;
  }

  [[nodiscard]] std::vector<Change> without_the_needless(std::vector<Change> changes) const {
    for (std::size_t i = 0; i < changes.size();) {
      std::vector<Change> fewer = changes;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (fits(fewer) == true) {
        changes = std::move(fewer);
      } else {
        ++i;
      }
    }
    return changes;
  }

  // Empty where the changed plan is none.
  [[nodiscard]] std::optional<bool> fits(const std::vector<Change>& changes) const {
    Scenario scenario = scenario_;
    for (const Change& change : changes) change.apply(scenario);
    Cluster cluster = cluster_;
    cluster.gpus = static_cast<int>(scenario.cluster.gpus);
    if (cluster.gpus > cluster.machine.gpus && !cluster.machine.inter_node_bandwidth) return std::nullopt;
    try {
      const Batches batches = resolve_batches(scenario.training, scenario.plan, cluster.gpus);
      require_known_sharding(scenario, stack_);
      if (scenario.plan.pipeline > 1) require_schedule(scenario.plan, batches.accumulation);
      // A longer pipeline than there are micro-batches would stand still most of the time.
      if (scenario.plan.pipeline > scenario_.plan.pipeline && batches.accumulation < scenario.plan.pipeline) {
        return std::nullopt;
      }
      const models::Model model = build_workload(scenario, scenario.training.micro_batch, data_);
      return plan_memory(model, scenario, stack_, cluster).of_fullest().total() <= cluster.device->memory;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Those of which a step's samples per GPU are a multiple, so that the global batch stays.
  [[nodiscard]] Kind micro_batches() const {
    Kind kind;
    const std::int64_t samples = batches_.micro * batches_.accumulation;
    for (std::int64_t micro = batches_.micro - 1; micro >= 1; --micro) {
      if (samples % micro != 0) continue;
      std::vector<std::string> settings = {fmt::format("training.micro_batch={}", micro)};
      if (scenario_.training.global_batch == 0) {
        settings.push_back(fmt::format("training.global_batch={}", batches_.global));
      }
      kind.push_back({fmt::format("micro-batch {} in place of {}, gradients being accumulated", micro, batches_.micro),
                      std::move(settings), [micro, global = batches_.global](Scenario& scenario) {
                        scenario.training.micro_batch = micro;
                        scenario.training.global_batch = global;
                      }});
    }
    return kind;
  }

  [[nodiscard]] Kind recompute() const {
    Kind kind;
    const auto add = [&](const char* words, const char* name) {
      kind.push_back({words, {fmt::format("plan.recompute={}", name)},
                      [name](Scenario& scenario) { scenario.plan.recompute = name; }});
    };
    const std::string& now = scenario_.plan.recompute;
    if (now == "none") add("computing the attention core again in backward", "selective");
    if (now != "full") add("computing whole layers again in backward", "full");
    return kind;
  }

  [[nodiscard]] Kind sharding() const {
    const std::vector<std::pair<const char*, const char*>> levels = {
        {"zero1", "optimizer state in shards"},
        {"zero2", "optimizer state and gradients in shards"},
        {"zero3", "optimizer state, gradients and parameters in shards"}};
    Kind kind;
    if (batches_.data_parallel == 1) return kind;
    const std::string& now = chosen_sharding(scenario_.plan, stack_);
    const auto at = std::find_if(levels.begin(), levels.end(), [&](const auto& level) { return now == level.first; });
    auto next = now == "none" ? levels.begin() : at == levels.end() ? levels.end() - 1 : at + 1;  // beyond hsdp: zero3
    for (auto level = next; level != levels.end(); ++level) {
      kind.push_back({level->second, {fmt::format("plan.sharding={}", level->first)},
                      [name = level->first](Scenario& scenario) {
                        scenario.plan.sharding = name;
                        scenario.plan.shard_group = 0;
                      }});
    }
    return kind;
  }

  [[nodiscard]] Kind tensor() const {
    Kind kind;
    for (std::int64_t degree = 2 * scenario_.plan.tensor; degree <= cluster_.machine.gpus; degree *= 2) {
      kind.push_back({fmt::format("tensor parallelism of {} GPUs", degree), {fmt::format("plan.tensor={}", degree)},
                      [degree](Scenario& scenario) { scenario.plan.tensor = degree; }});
    }
    return kind;
  }

  [[nodiscard]] Kind pipeline() const {
    Kind kind;
    for (std::int64_t stages = 2 * scenario_.plan.pipeline; stages <= cluster_.gpus; stages *= 2) {
      kind.push_back({fmt::format("a pipeline of {} stages", stages), {fmt::format("plan.pipeline={}", stages)},
                      [stages](Scenario& scenario) { scenario.plan.pipeline = stages; }});
    }
    return kind;
  }

  // Whatever they hold the state of: of shards, or of a larger tensor-parallel group.
  [[nodiscard]] Kind gpus() const {
    Kind kind;
    for (std::int64_t factor = 2; factor * cluster_.gpus <= most_gpus_advised; factor *= 2) {
      const std::int64_t count = factor * cluster_.gpus;
      const std::string setting = fmt::format("cluster.gpus={}", count);
      const auto enlarge = [count, factor, batches = batches_](Scenario& scenario, bool data_parallel) {
        scenario.cluster.gpus = count;
        if (data_parallel) {
          scenario.training = rescaled(scenario.training, batches, batches.data_parallel * factor);
        }
      };
      kind.push_back({fmt::format("{} GPUs", count), {setting},
                      [enlarge](Scenario& scenario) { enlarge(scenario, true); }});
      kind.push_back({fmt::format("{} GPUs with all state in shards", count), {setting, "plan.sharding=zero3"},
                      [enlarge](Scenario& scenario) {
                        enlarge(scenario, true);
                        scenario.plan.sharding = "zero3";
                      }});
      const std::int64_t degree = factor * scenario_.plan.tensor;
      if (degree > cluster_.machine.gpus) continue;
      kind.push_back({fmt::format("{} GPUs with tensor parallelism of {}", count, degree),
                      {setting, fmt::format("plan.tensor={}", degree)},
                      [enlarge, degree](Scenario& scenario) {
                        enlarge(scenario, false);
                        scenario.plan.tensor = degree;
                      }});
    }
    return kind;
  }

  const Scenario& scenario_;
  const calibrate::Stack& stack_;
  const Cluster& cluster_;
  const DataStore& data_;
  Batches batches_;
};

std::pair<const char*, Bytes> largest_category(const MemoryParts& parts) {
  const std::vector<std::pair<const char*, Bytes>> categories = {
      {"parameters", parts.parameters},   {"gradients", parts.gradients}, {"optimizer state", parts.optimizer},
      {"activations", parts.activations}, {"logits", parts.logits},       {"buckets", parts.buckets},
      {"workspace", parts.workspace},     {"the framework itself", parts.framework}};
  return *std::max_element(categories.begin(), categories.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

}  // namespace

std::string memory_advice(const PlanMemory& memory, const Scenario& scenario, const calibrate::Stack& stack,
                          const Cluster& cluster, const DataStore& data) {
  const auto [category, bytes] = largest_category(memory.of_fullest());
  const std::string largest =
      fmt::format("Most of it is {} ({}{}; a GPU has {})", category, format_bytes(bytes),
                  memory.stages.size() > 1 ? fmt::format(" on stage {}", memory.fullest) : "",
                  format_bytes(cluster.device->memory));
  const std::vector<Change> changes = Adviser(scenario, stack, cluster, data).smallest();
  if (changes.empty()) {
    return fmt::format(
        "{}; no smaller micro-batch, recompute, sharding, tensor or pipeline parallelism on up to {} GPUs is enough: "
        "a GPU with more memory is needed",
        largest, most_gpus_advised);
  }
  std::vector<std::string> words, settings;
  for (const Change& change : changes) {
    words.push_back(change.words);
    for (const std::string& setting : change.settings) settings.push_back("--set " + setting);
  }
  return fmt::format("{}; it fits with {}: {}", largest, joined(words, ", "), joined(settings, " "));
}

}  // namespace foretrain::sim::strategies
