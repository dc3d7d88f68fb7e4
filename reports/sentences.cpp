#include "reports/sentences.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/humanise.h"

namespace foretrain::reports {

std::string headline(const sim::Scenario& scenario, const sim::Prediction& prediction) {
  const std::string step = interval_text(prediction.step_time);
  const std::string rate = value_text(prediction.throughput);
  std::string text = fmt::format("A step takes {}: {}", step, rate);
  if (scenario.cluster.gpus > 1) {
    text += fmt::format(", speedup {} over one GPU, efficiency {}", factor_text(prediction.speedup),
                        share_text(prediction.efficiency));
  }
  text += '.';
  if (prediction.memory.fits) return text;
  return fmt::format("It does not fit: {} of {} per GPU. If it did: {}", value_text(prediction.memory.total),
                     value_text(prediction.memory.capacity), text);
}

std::string bound_and_fit(const sim::Prediction& prediction) {
  std::string text = prediction.binding.empty() ? "" : fmt::format("Bound by {}. ", printable(prediction.binding));
  if (prediction.memory.fits) {
    text += fmt::format("Fits: {} of {} per GPU.", value_text(prediction.memory.total),
                        value_text(prediction.memory.capacity));
    if (!prediction.one_gpu_fits) {
      text += " One GPU could not hold it: the speedup is over one with enough memory.";
    }
    return text;
  }
  return text + printable(prediction.memory.advice, 1000);
}

std::string cluster_words(const sim::Scenario& scenario, const sim::Prediction& prediction) {
  const sim::ClusterChoice& cluster = scenario.cluster;
  const std::string machine = cluster.machine.empty() ? "machine with " + cluster.gpu.value_or("GPU") : cluster.machine;
  return fmt::format("{} × {} ({} GPU{})", prediction.nodes, printable(machine), cluster.gpus,
                     cluster.gpus == 1 ? "" : "s");
}

std::string plan_words(const sim::Scenario& scenario, const sim::Prediction& prediction) {
  const sim::Plan& plan = scenario.plan;
  std::vector<std::string> how;
  std::string text;
  if (plan.tensor > 1 || plan.pipeline > 1) {
    text = fmt::format("tensor {} × pipeline {} × data {}", plan.tensor, plan.pipeline, prediction.data_parallel);
    if (plan.pipeline > 1) how.push_back(printable(plan.schedule));
    if (plan.interleave > 1) how.push_back(fmt::format("{} chunks per stage", plan.interleave));
    if (plan.sequence_parallel) how.emplace_back("sequence parallel");
  }
  if (prediction.sharding != "none" && prediction.data_parallel > 1) how.push_back(printable(prediction.sharding));
  if (plan.recompute != "none") how.push_back(printable(plan.recompute) + " recompute");
  if (how.empty()) return text;
  if (text.empty()) return joined(how);
  return text + " (" + joined(how) + ")";
}

std::string training_words(const sim::Scenario& scenario, const sim::Prediction& prediction) {
  const sim::Training& training = scenario.training;
  const bool whole_copies = scenario.plan.tensor == 1 && scenario.plan.pipeline == 1;
  std::string text = fmt::format("{}, {}, {}; {} per {}", printable(scenario.stack.name),
                                 models::to_string(training.precision), printable(training.optimizer),
                                 training.micro_batch, whole_copies ? "GPU" : "micro-batch");
  if (training.sequence > 0) text += fmt::format(", sequence {}", training.sequence);
  const std::string plan = plan_words(scenario, prediction);
  if (!plan.empty()) text += ", " + plan;
  if (prediction.accumulation > 1) {
    text += fmt::format(", {} {}", prediction.accumulation, whole_copies ? "× accumulated" : "micro-batches");
  }
  text += fmt::format(", {} per step", prediction.global_batch);
  if (scenario.cluster.gpus > 1) {
    text += training.scaling == sim::Scaling::weak ? ", weak scaling" : ", strong scaling";
  }
  return text;
}

std::string workload_words(const Workload& workload, const sim::Scenario& scenario,
                           const sim::Prediction& prediction) {
  std::vector<std::string> parts;
  if (workload.parameters > 0) parts.push_back(format_count(workload.parameters) + " parameters");
  if (workload.training_flops_per_sample > 0) {
    const std::string unit = workload.sample_unit.empty() ? "sample" : printable(workload.sample_unit);
    parts.push_back(fmt::format("{}FLOP per {}", format_count(workload.training_flops_per_sample), unit));
  }
  std::string text = joined(parts);
  if (workload.training_flops_per_sample > 0 && prediction.throughput.known) {
    const double per_gpu = workload.training_flops_per_sample * prediction.throughput.value /
                           static_cast<double>(scenario.cluster.gpus);
    text += fmt::format("; reaches {}FLOP/s per GPU", format_count(per_gpu));
    if (workload.device_peak_flops_per_s > 0) {
      text += fmt::format(", {} of its peak", format_percent(per_gpu / workload.device_peak_flops_per_s, 1));
    }
  }
  return text;
}

namespace {

// "64 to 1024", "2.03 G to 22.1 G".
std::string range_words(double least, double most) {
  const std::string low = format_count(least), high = format_count(most);
  return low == high ? high : low + " to " + high;
}

std::string run_record_words(const calibrate::RunRecord& record) {
  std::string text = fmt::format(
      "on the {} published runs most like this ({}; {} GPUs, {} parameters) the step was off by {} (median) "
      "and {} (mean)",
      record.runs, printable(joined(record.alike), 200),
      range_words(static_cast<double>(record.least_gpus), static_cast<double>(record.most_gpus)),
      range_words(record.least_parameters, record.most_parameters), format_percent(record.median_ape, 1),
      format_percent(record.mape, 1));
  if (!std::isnan(record.skill)) {
    text += fmt::format(", skill {:.2f} over one utilisation fitted on other sources", record.skill);
  }
  text += fmt::format("; 90 % intervals that had not seen their sources held {} of the {}.", record.held, record.runs);
  if (!record.beyond.empty()) text += fmt::format(" This answer goes beyond them: {}.", joined(record.beyond));
  return text;
}

}  // namespace

std::string track_record_words(const sim::Prediction& prediction) {
  if (!prediction.track_record && !prediction.run_record) {
    return "Track record: no published run like this was predicted; what stands behind the answer is a measured step, "
           "where one is given.";
  }
  if (!prediction.track_record) return "Track record: " + run_record_words(*prediction.run_record);
  const calibrate::TrackRecord& record = *prediction.track_record;
  std::string text = fmt::format(
      "Track record: on {} published speedup curves ({}) predictions were off by {:.1f} % (median) and {:.1f} % (mean), "
      "and 90 % intervals held {} of the points.",
      record.families, printable(record.kind), 100 * record.median_ape, 100 * record.mape,
      format_percent(record.coverage90));
  if (prediction.run_record) text += " And " + run_record_words(*prediction.run_record);
  return text;
}

std::string cost_basis(const sim::Scenario& scenario) {
  return scenario.training.dataset_samples > 0 ? "per epoch" : "per million samples";
}

std::string key_words(const std::string& key) {
  std::string words = printable(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace foretrain::reports
