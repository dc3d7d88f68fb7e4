#include "sim/strategies/step_writer.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/contention.h"

namespace foretrain::sim::strategies {
namespace {

std::string layer_collective_name(const LayerCollective& collective) {
  return std::string(calibrate::to_string(collective.kind)) +
         (collective.communicator == data_communicator ? " of a table" : " of layers (" + collective.communicator + ")");
}

std::string in_words(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

calibrate::KernelChoices kernel_choices(const calibrate::Stack& stack) {
  calibrate::KernelChoices choices;
  if (stack.at("fused_attention").value != 0) {
    choices.attention_generation = static_cast<int>(stack.at("attention_generation").value);
  }
  if (stack.at("fused_gradient_sum").value != 0) choices.gradient_sum_bytes = stack.at("gradient_storage_bytes").value;
  return choices;
}

}  // namespace

StepWriter::StepWriter(const ComposeInput& input, const RankRole& role, ParameterTable& parameters)
    : input_(input),
      parameters_(parameters),
      clock_(*input.cluster.device, input.scenario.training.precision, kernel_choices(input.stack), parameters),
      host_(program_.add_stream("host", StreamKind::host)),
      compute_(program_.add_stream("compute", StreamKind::compute)),
      communication_(program_.add_stream("data-parallel communication", StreamKind::communication)),
      input_stream_(program_.add_stream("input", StreamKind::input)),
      role_(role) {
  if (input.compute_parameter) anchor_ = parameters.add(*input.compute_parameter);
  std::size_t unit = 0;
  for (const LocalModel& chunk : role.chunks) {
    for (const LocalLayer& layer : chunk.layers) {
      for (const LocalOperator& local : layer.operators) {
        local_operators_.push_back(&local);
        local_units_.push_back(unit);
      }
      ++unit;
    }
  }
}

const models::Model& StepWriter::rank_model() const {
  if (rank_model_) return *rank_model_;
  const models::Model& whole = input_.model;
  models::Model& own = rank_model_.emplace();
  own.name = whole.name;
  own.family = whole.family;
  own.sample_unit = whole.sample_unit;
  own.micro_batch = whole.micro_batch;
  own.sequence = whole.sequence;
  own.sample_elements = whole.sample_elements;
  own.source = whole.source;
  for (const LocalModel& chunk : role_.chunks) {
    for (const LocalLayer& layer : chunk.layers) {
      models::Layer& copy = own.layers.emplace_back();
      copy.name = layer.name;
      copy.is_block = layer.is_block;
      for (const LocalOperator& local : layer.operators) copy.operators.push_back(local.op);
    }
  }
  return own;
}

std::uint16_t StepWriter::stream(const std::string& name, StreamKind kind) {
  for (std::size_t i = 0; i < program_.streams.size(); ++i) {
    if (program_.streams[i].name == name) return static_cast<std::uint16_t>(i);
  }
  return program_.add_stream(name, kind);
}

LayerCollective StepWriter::exposed(LayerCollective collective) const {
  if (collective.communicator == tensor_communicator) {
    collective.bytes = collective.bytes * (1 - input_.stack.at("tensor_overlap").value);
    if (collective.repeats_forward) {
      collective.bytes = collective.bytes * (1 - input_.stack.at("repeated_gather_overlap").value);
    }
  }
  return collective;
}

ActivityIndex StepWriter::layer_collective(const LayerCollective& collective,
                                           const std::vector<ActivityIndex>& waits) {
  const std::string name = layer_collective_name(collective);
  std::vector<ActivityIndex> all = waits;
  all.push_back(host_work("launch " + name, host_time("collective_launch_seconds", 1)));
  const bool of_data = collective.communicator == data_communicator;
  const std::uint16_t on =
      of_data ? communication_ : stream(collective.communicator + "-parallel communication", StreamKind::communication);
  return program_.add_collective(on, program_.add_communicator(collective.communicator), collective.kind,
                                 exposed(collective).bytes, program_.add_label(name), all);
}

CollectivePlan StepWriter::alone(const LayerCollective& collective) {
  assert(input_.planner != nullptr && input_.topology != nullptr);
  const auto [known, added] = contended_.try_emplace(collective.communicator);
  if (added) {
    const bool of_data = collective.communicator == data_communicator;
    const Communicator all = of_data ? layout().data_groups() : layout().tensor_groups();
    const int first = layout().rank(0, 0, stage());
    for (std::size_t g = 0; g < all.groups.size(); ++g) {
      if (all.groups[g].front() == first) known->second = contended_shape(all, g, *input_.topology);
    }
  }
  return input_.planner->plan(collective.kind, exposed(collective).bytes, known->second);
}

double StepWriter::stack(const std::string& key) const {
  const auto found = input_.stack.values.find(key);
  return found == input_.stack.values.end() ? 0.0 : found->second.value;
}

ParameterId StepWriter::stack_parameter(const std::string& key) {
  const calibrate::StackValue& entry = input_.stack.at(key);
  return parameters_.add({fmt::format("{} ({})", in_words(key), input_.stack.name), entry.relative_spread,
                          entry.provenance, entry.source, entry.value, entry.unit});
}

Duration StepWriter::host_time(const std::string& key, double count) {
  return stack_time(key, Seconds(input_.stack.at(key).value * count * input_.cluster.device->host_factor));
}

Duration StepWriter::stack_time(const std::string& key, Seconds time) { return {time, stack_parameter(key)}; }

Duration StepWriter::anchored(Duration duration) const {
  return {duration.time * input_.compute_scale, input_.compute_parameter ? anchor_ : duration.parameter};
}

Seconds StepWriter::unanchored(Duration duration) const {
  const bool scaled = input_.compute_parameter && duration.parameter == anchor_;
  return scaled ? duration.time / input_.compute_scale : duration.time;
}

ActivityIndex StepWriter::work(const Work& work, Category category, const std::vector<ActivityIndex>& device_waits) {
  return this->work(work, category, device_waits, main_lane());
}

ActivityIndex StepWriter::work(const Work& work, Category category, const std::vector<ActivityIndex>& device_waits,
                               Lane lane) {
  std::vector<ActivityIndex> waits = device_waits;
  if (work.host.time.value > 0) waits.push_back(host_work(work.name, work.host, {}, lane.host));
  const ActivityIndex index =
      program_.add_timed(lane.device, category, program_.add_label(work.name), work.device, waits);
  if (lane.device == compute_) last_device_work_ = index;
  return index;
}

ActivityIndex StepWriter::mixed_work(const std::string& name, Category category, std::uint32_t mixture,
                                     const std::vector<ActivityIndex>& waits) {
  const ActivityIndex index = program_.add_mixed(compute_, category, program_.add_label(name), mixture, waits);
  last_device_work_ = index;
  return index;
}

ActivityIndex StepWriter::host_work(const std::string& name, Duration duration,
                                    const std::vector<ActivityIndex>& waits) {
  return host_work(name, duration, waits, host_);
}

ActivityIndex StepWriter::host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits,
                                    std::uint16_t stream) {
  const ActivityIndex index = program_.add_timed(stream, Category::launch, program_.add_label(name), duration, waits);
  if (stream == host_) last_host_work_ = index;
  return index;
}

void StepWriter::add_term(Term term) {
  const auto [known, added] =
      term_index_.try_emplace(term.group + '\n' + term.name + '\n' + term.formula, terms_.size());
  if (added) {
    terms_.push_back(std::move(term));
  } else {
    terms_[known->second].seconds += term.seconds;
  }
}

void StepWriter::explain(const std::string& name, const std::string& group, const calibrate::OperatorTime& time,
                         double times) {
  if (!input_.want_terms) return;
  const Duration duration = anchored(time);
  add_term({name, group, duration.time.value * times, time.formula, to_string(time.provenance),
            parameters_.at(time.duration.parameter).source});
}

void StepWriter::explain(const std::string& name, const std::string& group, Duration duration,
                         const std::string& formula, double times) {
  if (!input_.want_terms || duration.time.value <= 0) return;
  const Parameter& parameter = parameters_.at(duration.parameter);
  add_term({name, group, duration.time.value * times, formula, to_string(parameter.provenance), parameter.source});
}

void StepWriter::explain(const LayerCollective& collective, double times) {
  const CollectivePlan plan = alone(collective);
  explain(layer_collective_name(collective), calibrate::to_string(collective.kind), plan.alone,
          format_bytes(exposed(collective).bytes) + ": " + plan.how, times);
}

}  // namespace foretrain::sim::strategies
