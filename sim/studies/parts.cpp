#include "sim/studies/parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/layout.h"
#include "sim/mixture.h"
#include "sim/stack_choice.h"
#include "sim/strategies/chunk.h"
#include "sim/strategies/memory_advice.h"

namespace foretrain::sim::studies {
namespace {

// An assumed number is worth a warning from this share of the step on.
constexpr double share_worth_a_warning = 0.05;

// Busy seconds of one kind of activity by parameter, as they ran in the timeline.
using BusyByParameter = std::map<std::uint32_t, double>;

BusyByParameter busy_by_parameter(const Replayed& replayed, const std::string& part) {
  const Job& job = replayed.main.run->job();
  const Timeline& timeline = replayed.main.timeline;
  const Program& program = job.programs[job.instances[replayed.instance].program];
  const double stretch = job.instances[replayed.instance].stretch;
  const auto exposed = [](calibrate::CollectiveKind kind) { return std::string("exposed_") + calibrate::to_string(kind); };
  const auto name_of = [&](const Part& piece) -> std::string {
    if (piece.category == Category::communication) return exposed(piece.collective);
    return piece.category == Category::input ? "input_stall" : to_string(piece.category);
  };
  BusyByParameter busy;
  for (std::size_t i = 0; i < program.activities.size(); ++i) {
    const Activity& activity = program.activities[i];
    const SpanIndex at = timeline.first_of[replayed.instance] + static_cast<SpanIndex>(i);
    if (!activity.is_collective) {
      const double seconds = timeline.spans[at].finish - timeline.spans[at].start;
      for (const Part& piece : parts_of(program, activity, stretch, seconds)) {
        if (name_of(piece) == part) busy[piece.parameter.index] += piece.seconds;
      }
      continue;
    }
    if (exposed(activity.collective) != part || timeline.collective_of[at] == no_span) continue;
    const CollectiveSpan& span = timeline.collectives[timeline.collective_of[at]];
    busy[span.alpha_parameter.index] += span.alpha_end - span.all_arrived;
    busy[span.bandwidth_parameter.index] += span.finish - span.alpha_end;
  }
  return busy;
}

// Standard deviation, in seconds, of what these activities take.
double busy_spread(const BusyByParameter& busy, const ParameterTable& parameters) {
  double variance = 0;
  for (const auto& [index, seconds] : busy) {
    variance += std::pow(seconds * parameters.at(ParameterId{index}).relative_spread, 2);
  }
  return std::sqrt(variance);
}

const char* in_words(models::OperatorKind kind) {
  switch (kind) {
    case models::OperatorKind::gemm: return "matrix products";
    case models::OperatorKind::convolution: return "convolutions";
    case models::OperatorKind::attention: return "attention";
    case models::OperatorKind::recurrent: return "recurrent layers, one dependent step after the other";
    case models::OperatorKind::embedding: return "embeddings";
    case models::OperatorKind::loss: return "the loss";
    case models::OperatorKind::elementwise:
    case models::OperatorKind::normalization:
    case models::OperatorKind::softmax:
    case models::OperatorKind::pooling: break;
  }
  return "passes over memory";
}

// The kind of operator that takes most of the device's part of the critical path, and its seconds; what belongs to
// no operator (optimizer, casts, copies) passes over memory.
std::pair<std::string, double> largest_kind_of_work(const Replayed& replayed) {
  std::map<std::string, const char*> kind_of_label;
  for (const models::Layer& layer : replayed.main.run->model().layers) {
    for (const models::Operator& op : layer.operators) {
      for (const char* direction : {" forward", " backward"}) kind_of_label[op.name + direction] = in_words(op.kind);
    }
  }
  std::map<std::string, double> seconds;
  double written_out = 0, all = 0;
  for (const auto& [label, busy] : replayed.kinds.by_label.at(Bottleneck::computation)) {
    all += busy;
    if (strategies::is_repeated(label)) continue;  // micro-batches like the ones that are written out
    if (strategies::is_pass(label)) continue;      // counted by parameter below
    written_out += busy;
    const auto kind = kind_of_label.find(label);
    seconds[kind == kind_of_label.end() ? "passes over memory" : kind->second] += busy;
  }
  for (const auto& [parameter, busy] : replayed.kinds.mixed_by_parameter) {
    const std::string name = "work that rests on " + printable(replayed.parameters.at(ParameterId{parameter}).name);
    seconds[name] += busy;
    written_out += busy;
  }
  for (auto& [kind, busy] : seconds) busy *= all / written_out;
  return *std::max_element(seconds.begin(), seconds.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

}  // namespace

std::vector<NamedQuantity> breakdown_quantities(const Replayed& replayed, const Quantity& step_time) {
  std::vector<NamedQuantity> parts;
  for (const auto& [name, seconds] : replayed.breakdown) {
    const BusyByParameter busy = busy_by_parameter(replayed, name);
    // Waiting and idling have no activities of their own: they scale with the step.
    const double spread = busy.empty() ? seconds * std::log(step_time.high / step_time.value) / half_width_90()
                                       : busy_spread(busy, replayed.parameters);
    const double margin = half_width_90() * spread;
    parts.push_back(
        {name, {seconds, std::max(0.0, seconds - margin), seconds + margin, "s", step_time.provenance, true}});
  }
  return parts;
}

void fill_binding(Prediction& prediction, const Replayed& replayed) {
  const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto& kinds = replayed.kinds.seconds;
  const auto largest = std::max_element(kinds.begin(), kinds.end(), by_value);
  prediction.bottleneck = largest->first;
  const std::string share = format_percent(largest->second / replayed.main.step_seconds()) + " of the critical path";
  switch (largest->first) {
    case Bottleneck::computation: {
      const auto [kind, seconds] = largest_kind_of_work(replayed);
      prediction.binding = fmt::format("computation ({}; {} in {})", share,
                                       format_percent(seconds / replayed.main.step_seconds()), kind);
      break;
    }
    case Bottleneck::launches:
      prediction.binding = fmt::format("kernel launches and other host work ({})", share);
      break;
    case Bottleneck::communication: {
      const auto& purposes = replayed.kinds.communication_by_purpose;
      prediction.binding =
          fmt::format("{} ({})", std::max_element(purposes.begin(), purposes.end(), by_value)->first, share);
      break;
    }
    case Bottleneck::input: prediction.binding = fmt::format("input pipeline ({})", share); break;
  }
}

// Of Activity::bytes of a collective over `ranks`, the buffer whose all-reduce over all `gpus` sends as much: a gather
// counts half, the levels of a hierarchical reduction add up to about the buffer itself.
double share_of_all_reduce(calibrate::CollectiveKind kind, int ranks, int gpus) {
  return calibrate::bus_factor(kind, ranks) / calibrate::bus_factor(calibrate::CollectiveKind::all_reduce, gpus);
}

// Time in which at least one of the intervals is running.
double covered_seconds(std::vector<std::pair<double, double>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double seconds = 0, until = 0;
  for (const auto& [begin, end] : intervals) {
    seconds += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return seconds;
}

// Not between the parts of one copy of the model.
bool shares_gradients(const Program& program, const Activity& activity) {
  const std::string& communicator = program.communicators[activity.communicator];
  return communicator != tensor_communicator && communicator != embedding_communicator &&
         activity.collective != calibrate::CollectiveKind::send_receive;
}

GradientExchange gradient_exchange(const Replayed& replayed) {
  GradientExchange exchange;
  const Run& run = *replayed.main.run;
  if (!run.distributed()) return exchange;
  const Cluster& cluster = run.cluster();
  const Job& job = run.job();
  const Timeline& timeline = replayed.main.timeline;
  const Program& program = job.programs[job.instances[replayed.instance].program];
  std::vector<std::pair<double, double>> intervals;
  double pushed = 0;  // to servers, of which as much is pulled; sums inside a node come before
  double backward_end = 0;
  // Where nothing is sharded, compressed gradients are what is gathered.
  const bool is_sharded = chosen_sharding(run.scenario().plan, run.stack()) != "none";
  for (std::size_t i = 0; i < program.activities.size(); ++i) {
    const SpanIndex at = timeline.first_of[replayed.instance] + static_cast<SpanIndex>(i);
    const Activity& activity = program.activities[i];
    if (activity.is_collective) {
      if (timeline.collective_of[at] == no_span || !shares_gradients(program, activity)) continue;
      const CollectiveSpan& span = timeline.collectives[timeline.collective_of[at]];
      const Group& group = job.groups[job.instances[replayed.instance].group_of_communicator[activity.communicator]];
      intervals.emplace_back(span.all_arrived, span.finish);
      if (is_sharded && activity.collective == calibrate::CollectiveKind::all_gather) exchange.has_parameters = true;
      if (activity.collective == calibrate::CollectiveKind::push) pushed += activity.bytes.value;
      if (calibrate::is_with_servers(activity.collective)) continue;
      exchange.bytes +=
          activity.bytes.value *
          share_of_all_reduce(activity.collective, group.shape.ranks, static_cast<int>(run.batches().data_parallel));
    } else if (activity.category == Category::forward) {
      exchange.backward_seconds = 0;  // an earlier micro-batch's
    } else if (activity.category == Category::backward) {
      exchange.backward_seconds += timeline.spans[at].finish - timeline.spans[at].start;
      backward_end = std::max(backward_end, timeline.spans[at].finish);
    }
  }
  exchange.overlaps = std::any_of(intervals.begin(), intervals.end(), [&](const std::pair<double, double>& interval) {
    return interval.first < backward_end;
  });
  exchange.seconds = covered_seconds(std::move(intervals));
  if (pushed > 0) exchange.bytes = pushed;
  if (cluster.nodes > 1) {
    const double gbits = cluster.machine.inter_node_bandwidth->value * 8e-9;
    exchange.over =
        fmt::format("{} Gb/s {} between {} nodes", significant(gbits), cluster.network->name, cluster.nodes);
  } else {
    exchange.over = fmt::format("{} inside the node", calibrate::to_string(cluster.machine.intra_node));
  }
  return exchange;
}

MemoryAnswer memory_answer(const Run& run, const DataStore& data) {
  const calibrate::StackValue& framework = run.stack().at("framework_memory_bytes");
  // How much the allocator cannot use varies by about as much as it is.
  const double allocator = run.stack().at("fragmentation_fraction").value;
  const auto bytes = [](Bytes amount, double relative, const std::string& provenance) {
    return Quantity{
        amount.value, amount.value * std::max(0.0, 1 - relative), amount.value * (1 + relative), "bytes", provenance,
        true};
  };
  const auto parts_of_stage = [&](const MemoryParts& parts) {
    return std::vector<NamedQuantity>{
        {"parameters", bytes(parts.parameters, 0, "counted")},
        {"gradients", bytes(parts.gradients, 0, "counted")},
        {"optimizer", bytes(parts.optimizer, 0, "counted")},
        {"activations", bytes(parts.activations, allocator, "counted")},
        {"logits", bytes(parts.logits, allocator, "counted")},
        {"buckets", bytes(parts.buckets, 0, "counted")},
        {"workspace", bytes(parts.workspace, allocator, "counted, and what the allocator loses")},
        {"framework", bytes(parts.framework, half_width_90() * framework.relative_spread,
                            to_string(framework.provenance))}};
  };
  const auto total_of = [](const std::vector<NamedQuantity>& parts) {
    Quantity total{0, 0, 0, "bytes", "sum of the parts", true};
    for (const auto& [name, part] : parts) {
      total.value += part.value;
      total.low += part.low;
      total.high += part.high;
    }
    return total;
  };
  MemoryAnswer answer;
  const strategies::PlanMemory& memory = run.composed().memory;
  for (const MemoryParts& stage : memory.stages) answer.stages.push_back(total_of(parts_of_stage(stage)));
  answer.fullest = memory.fullest;
  answer.parts = parts_of_stage(memory.of_fullest());
  answer.total = answer.stages[memory.fullest];
  const Bytes capacity = run.cluster().device->memory;
  answer.capacity = bytes(capacity, 0, run.cluster().device->datasheet_source);
  answer.fits = run.memory().total() <= capacity;
  if (!answer.fits) {
    answer.advice =
        strategies::memory_advice(run.composed().memory, run.scenario(), run.stack(), run.cluster(), data);
  }
  return answer;
}

// How far the answer lies outside what was measured; empty where it does not. Copies of a model are judged by published
// speedups, plans that take a model apart by published runs.
std::string beyond_evidence(const Prediction& prediction, int gpus) {
  if (prediction.track_record) {
    const std::int64_t most = prediction.track_record->most_gpus;
    if (gpus <= most) return "";
    return fmt::format("{} GPUs are {} × the largest job with measurements behind it ({})", gpus,
                       significant(static_cast<double>(gpus) / static_cast<double>(most), 2), most);
  }
  if (!prediction.run_record || prediction.run_record->beyond.empty() || gpus == 1) return "";
  return fmt::format("beyond the {} published runs most like this: {}", prediction.run_record->runs,
                     joined(prediction.run_record->beyond));
}

void fill_warnings(Prediction& prediction, const Replayed& replayed) {
  const Run& run = *replayed.main.run;
  const auto warn = [&](const std::string& text) { prediction.warnings.push_back(text); };
  for (const std::string& warning : run.cluster().warnings) warn(warning);
  for (const std::string& warning : run.composed().warnings) warn(warning);
  prediction.extrapolating = run.composed().extrapolating;
  const std::string beyond = beyond_evidence(prediction, run.cluster().gpus);
  if (!beyond.empty()) {
    prediction.extrapolating = true;
    warn("extrapolating: " + beyond);
  }
  for (const ParameterShare& part : prediction.parameters) {
    const double share = part.critical_seconds / prediction.step_time.value;
    const bool outside = part.parameter.name == replayed.parameters.at(replayed.main.unmodelled).name;
    if (part.parameter.provenance != Provenance::assumed || share < share_worth_a_warning || outside) continue;
    warn(fmt::format("assumed: {} ({} of the step)", printable(part.parameter.name), format_percent(share)));
  }
}

}  // namespace foretrain::sim::studies
