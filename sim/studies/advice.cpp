#include "sim/studies/advice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "models/precision.h"
#include "sim/stack_choice.h"
#include "sim/studies/anchor.h"
#include "sim/studies/known_work.h"
#include "sim/studies/run.h"

namespace foretrain::sim::studies {
namespace {

// A change that gains less is lost among the errors of the prediction.
constexpr double least_gain_worth_saying = 1.05;
constexpr std::size_t most_changes = 4;

class Changes {
 public:
  Changes(const Scenario& scenario, const Prediction& prediction, const Scenario& measured_in,
          const calibrate::Catalogue& catalogue)
      : scenario_(with_known_work(scenario, measured_in, catalogue)),
        prediction_(prediction),
        catalogue_(catalogue),
        anchor_(find_anchor(scenario_, with_known_work(measured_in, measured_in, catalogue), catalogue)),
        stack_(chosen_stack(scenario.stack, catalogue)),
        cluster_(resolve_cluster(scenario.cluster, catalogue)) {}

  std::vector<WhatIf> all() {
    without_input_limit();
    larger_micro_batch();
    lower_precision();
    stack_option("host_seconds_per_launch_forward", "host_seconds_per_launch_backward", 0,
                 "launching whole steps at once (CUDA graphs, torch.compile), at best");
    stack_option("fused_optimizer", nullptr, 1, "a fused optimizer (stack.options.fused_optimizer = 1)");
    if (prediction_.data_parallel > 1) {
      stack_option("gradient_bytes_per_parameter", nullptr, 2,
                   "two-byte gradients (stack.options.gradient_bytes_per_parameter = 2)");
      more_accumulation();
      faster_network();
    }
    std::stable_sort(found_.begin(), found_.end(), [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
    if (found_.size() > most_changes) found_.resize(most_changes);
    return found_;
  }

 private:
  // Samples per second; nothing when it does not fit.
  [[nodiscard]] std::optional<double> throughput(const Scenario& changed) const {
    ParameterTable parameters;
    const Run run(changed, catalogue_, anchor_, {}, parameters);
    if (run.memory().total() > run.cluster().device->memory) return std::nullopt;
    return static_cast<double>(run.batches().global) / run.replay().step_seconds;
  }

  double gain(const Scenario& changed) const { return throughput(changed).value_or(0) / prediction_.throughput.value; }

  void consider(const Scenario& changed, const std::string& change) {
    const double factor = gain(changed);
    if (factor >= least_gain_worth_saying) found_.push_back({change, factor});
  }

  void without_input_limit() {
    const InputPipeline& input = scenario_.input;
    if (!input.samples_per_s_per_node && !input.samples_per_s_per_vcpu && !input.storage_gbytes_per_s) return;
    Scenario changed = scenario_;
    changed.input = InputPipeline{};
    consider(changed,
             "input that keeps up (decode once and store the result, decode on the GPU, more CPU workers, "
             "faster storage)");
  }

  // Twice the samples per GPU and step: launches, optimizer and all-reduce stay what they are.
  void larger_micro_batch() {
    Scenario changed = scenario_;
    changed.training.micro_batch *= 2;
    const bool strong = scenario_.training.scaling == Scaling::strong;
    if (strong && prediction_.accumulation % 2 != 0) return;
    changed.training.global_batch = strong ? prediction_.global_batch : 2 * prediction_.global_batch;
    consider(changed,
             fmt::format("micro-batch {} instead of {}{}", changed.training.micro_batch, scenario_.training.micro_batch,
                         strong ? "" : " (the global batch doubles: check that training still converges)"));
  }

  void more_accumulation() {
    if (scenario_.training.scaling == Scaling::strong) return;
    Scenario changed = scenario_;
    changed.training.global_batch = 2 * prediction_.global_batch;
    consider(changed, "gradients exchanged half as often (twice the accumulation; the global batch doubles)");
  }

  void lower_precision() {
    using models::Precision;
    if (models::is_mixed(scenario_.training.precision)) return;
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
      if (cluster_.device->peak.count(precision) == 0) continue;
      Scenario changed = scenario_;
      changed.training.precision = precision;
      consider(changed, fmt::format("mixed precision ({})", models::to_string(precision)));
      return;
    }
  }

  void stack_option(const char* key, const char* second_key, double value, const std::string& change) {
    Scenario changed = scenario_;
    for (const char* name : {key, second_key}) {
      if (name == nullptr) continue;
      if (stack_.at(name).value == value) return;
      changed.stack.options[name] = value;
    }
    consider(changed, change);
  }

  // The smallest of a few rates that gains most of what any network could.
  void faster_network() {
    if (prediction_.nodes <= 1) return;
    const double rate = cluster_.machine.inter_node_bandwidth->value * 8e-9;
    const auto with_factor = [&](double factor) {
      Scenario changed = scenario_;
      changed.cluster.inter_node_gbits_per_s = rate * factor;
      return gain(changed);
    };
    constexpr double beyond_reach = 64, most_of_it = 0.8;
    const double best = with_factor(beyond_reach);
    if (best < least_gain_worth_saying) return;
    for (double factor = 2; factor < beyond_reach; factor *= 2) {
      const double reached = with_factor(factor);
      if (reached - 1 < most_of_it * (best - 1)) continue;
      found_.push_back(
          {fmt::format("{} Gb/s between nodes instead of {}", significant(rate * factor), significant(rate)), reached});
      return;
    }
  }

  Scenario scenario_;
  const Prediction& prediction_;
  const calibrate::Catalogue& catalogue_;
  Anchor anchor_;
  calibrate::Stack stack_;
  Cluster cluster_;
  std::vector<WhatIf> found_;
};

}  // namespace

std::vector<WhatIf> what_ifs(const Scenario& scenario, const Prediction& prediction, const Scenario& measured_in,
                             const calibrate::Catalogue& catalogue) {
  return Changes(scenario, prediction, measured_in, catalogue).all();
}

std::vector<std::string> advice(const std::string& name, const Scenario& scenario, const Prediction& prediction,
                                const Scenario& measured_in, const calibrate::Catalogue& catalogue) {
  std::vector<std::string> sentences;
  for (const WhatIf& what_if : what_ifs(scenario, prediction, measured_in, catalogue)) {
    sentences.push_back(fmt::format("{}: {}× with {}", name, significant(what_if.gain, 2), what_if.change));
  }
  return sentences;
}

}  // namespace foretrain::sim::studies
