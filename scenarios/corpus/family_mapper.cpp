#include "scenarios/corpus/family_mapper.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "models/model.h"
#include "scenarios/corpus/batch_plan.h"
#include "scenarios/corpus/node.h"
#include "sim/memory.h"
#include "sim/workload.h"

namespace foretrain::scenarios {
namespace {

using sim::studies::DeclinedFamily;
using sim::studies::Family;
using sim::studies::FamilyPoint;

// Why a row's class is declined; nothing = go on.
using Reason = std::optional<std::string>;

Reason unsupported(const std::string& what) { return "unsupported: " + what; }

// What is known of a row while it is mapped, one subject after the other.
class Draft {
 public:
  Draft(const FamilyRow& row, const calibrate::Catalogue& catalogue, const CorpusTables& tables,
        const std::set<std::string>& zoo, const std::set<std::string>& stacks)
      : row_(row), catalogue_(catalogue), tables_(tables), zoo_(zoo), stacks_(stacks), texts_(row.texts) {}

  // Each of them needs those before it.
  Reason map() {
    using Step = Reason (Draft::*)();
    for (const Step step : {&Draft::map_node, &Draft::map_model, &Draft::map_units, &Draft::map_stack,
                            &Draft::map_precision, &Draft::map_batches, &Draft::map_input}) {
      if (Reason reason = (this->*step)()) return reason;
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] Family family() const;

 private:
  Reason map_model();
  Reason map_units();
  Reason map_node();
  Reason map_stack();
  Reason map_precision();
  Reason map_batches();
  Reason map_input();

  void read_sequence_or_image(const std::string& text);
  [[nodiscard]] std::int64_t batch_in_samples() const;
  [[nodiscard]] double anchor_samples_per_second() const;
  [[nodiscard]] double anchor_step_seconds() const;
  [[nodiscard]] calibrate::Stack stack() const;
  [[nodiscard]] GpuMemory gpu_memory() const;
  [[nodiscard]] FamilyPoint point(std::size_t at) const;
  [[nodiscard]] bool carries_over(const StepBatch& step) const;

  const FamilyRow& row_;
  const calibrate::Catalogue& catalogue_;
  const CorpusTables& tables_;
  const std::set<std::string>&zoo_, &stacks_;
  Texts texts_;
  sim::Scenario scenario_;  // what all points have in common
  UnitFact units_;
  Node node_;
  std::vector<StepBatch> steps_;
  std::vector<std::string> notes_;
  std::string kind_;
};

Reason Draft::map_model() {
  const ModelFact* fact = tables_.models.first(texts_);
  if (fact == nullptr || !fact->unsupported.empty() || zoo_.count(fact->zoo) == 0) return unsupported("model");
  texts_["zoo"] = fact->zoo;
  scenario_.model.name = fact->zoo;
  scenario_.model.where = row_.place + ": model";
  scenario_.training.optimizer = fact->optimizer;
  const bool takes_sequence = models::build_model(scenario_.model, {}, catalogue_.data()).sequence > 0;
  if (takes_sequence) scenario_.training.sequence = fact->sequence;
  for (const NumbersFact* sizes : tables_.sizes.all(texts_)) {
    for (const auto& [key, value] : *sizes) scenario_.model.overrides[key] = value;
  }
  read_sequence_or_image(texts_.at("seq_or_image"));
  return std::nullopt;
}

// "seq512", "224", "224x224": sizes of the input, where the model has them to choose.
void Draft::read_sequence_or_image(const std::string& text) {
  static const std::regex sequence("seq ?([1-9][0-9]{0,6})"), image("([1-9][0-9]{0,4})(x[0-9]{1,5})?");
  std::smatch match;
  if (std::regex_match(text, match, sequence)) {
    const models::Model model = models::build_model(scenario_.model, {}, catalogue_.data());
    if (model.sequence > 0) scenario_.training.sequence = std::stoll(match[1]);
  } else if (std::regex_match(text, match, image)) {
    const auto sizes = models::zoo_sizes(scenario_.model.name, catalogue_.data());
    const auto own = sizes.find("image");
    const double side = std::stod(match[1]);
    if (own != sizes.end() && own->second != side) scenario_.model.overrides["image"] = side;
  }
}

Reason Draft::map_units() {
  const UnitFact* fact = tables_.units.first(texts_);
  if (fact == nullptr) return unsupported("metric");
  units_ = *fact;
  if (units_.per_sample > 0) return std::nullopt;
  const models::Model model = models::build_model(scenario_.model, {1, scenario_.training.sequence}, catalogue_.data());
  if (model.sequence < 1) return unsupported("metric");
  units_.per_sample = static_cast<double>(model.sequence);
  return std::nullopt;
}

Reason Draft::map_node() {
  const DeviceFact* fact = tables_.gpus.first(texts_);
  if (fact == nullptr || !fact->unsupported.empty()) return unsupported("device");
  texts_["device"] = fact->device;
  node_ = find_node(texts_, row_.gpus.back(), catalogue_, tables_);
  scenario_.cluster = node_.cluster;
  scenario_.cluster.where = row_.place;
  texts_["network"] = node_.network;
  kind_ = "single node";
  if (row_.gpus.back() <= node_.gpus) return std::nullopt;
  const std::string* group = tables_.network_groups.first(texts_);
  if (!node_.network_known || group == nullptr) return unsupported("network that nobody states");
  kind_ = node_.network_stated ? *group : "network not stated";
  return std::nullopt;
}

Reason Draft::map_stack() {
  const StackFact* fact = tables_.stacks.first(texts_);
  if (fact == nullptr) return unsupported("software");
  if (!fact->unsupported.empty()) return unsupported(fact->unsupported);
  const bool leaves_node = row_.gpus.back() > node_.gpus && !fact->across_nodes.empty();
  scenario_.stack.name = leaves_node ? fact->across_nodes : fact->stack;
  if (stacks_.count(scenario_.stack.name) == 0) return unsupported("software");
  for (const NumbersFact* options : tables_.stack_options.all(texts_)) {
    for (const auto& [key, value] : *options) scenario_.stack.options[key] = value;
  }
  const bool* sharded = tables_.sharded_tables.first(texts_);
  if (sharded != nullptr && *sharded) scenario_.plan.tables = "sharded";
  if (fact->parameter_server) kind_ = "parameter server";
  return std::nullopt;
}

// Frameworks compute products of fp32 numbers in TF32 where the device can.
models::Precision default_precision(const calibrate::Device& device) {
  return device.peak.count(models::Precision::tf32) > 0 ? models::Precision::tf32 : models::Precision::fp32;
}

Reason Draft::map_precision() {
  const std::string* name = tables_.precisions.first(texts_);
  if (name == nullptr) return unsupported("precision");
  models::Precision& precision = scenario_.training.precision;
  const calibrate::Device& device = *node_.device;
  if (*name != "default" && *name != "not stated") {
    precision = models::precision_from(*name);
  } else {
    precision = default_precision(device);
  }
  if (*name == "not stated") {
    const models::Model one = models::build_model(scenario_.model, {1, scenario_.training.sequence}, catalogue_.data());
    const double flops_per_second =
        models::training_flops(one).value * anchor_samples_per_second() / static_cast<double>(row_.gpus.front());
    if (flops_per_second > device.peak.at(precision).value) precision = models::Precision::fp16;
    notes_.push_back(fmt::format("precision not stated: {} assumed", models::to_string(precision)));
  }
  // Devices without tensor cores, or without the format, compute as they can.
  if (device.peak.count(precision) == 0) precision = default_precision(device);
  return std::nullopt;
}

std::int64_t Draft::batch_in_samples() const {
  if (row_.rule == BatchRule::not_stated) {
    return static_cast<std::int64_t>(tables_.batches.first(texts_)->assumed_batch_per_gpu);
  }
  const double samples = units_.batch_in_units ? row_.batch / units_.per_sample : row_.batch;
  return std::max<std::int64_t>(1, std::llround(samples));
}

double Draft::anchor_step_seconds() const {
  if (measures_seconds(row_)) return row_.values.front();
  const bool is_global = row_.rule == BatchRule::global;
  const double gpus = is_global ? 1 : static_cast<double>(row_.gpus.front());
  const double batch = row_.batch > 0 && units_.batch_in_units
                           ? row_.batch
                           : static_cast<double>(batch_in_samples()) * units_.per_sample;
  return gpus * batch / row_.values.front();
}

double Draft::anchor_samples_per_second() const {
  const double gpus = row_.rule == BatchRule::global ? 1 : static_cast<double>(row_.gpus.front());
  return gpus * static_cast<double>(batch_in_samples()) / anchor_step_seconds();
}

calibrate::Stack Draft::stack() const {
  calibrate::Stack stack = catalogue_.stack(scenario_.stack.name);
  for (const auto& [key, value] : scenario_.stack.options) stack.values.at(key).value = value;
  return stack;
}

// By the closed form, with what the smallest number of GPUs holds.
GpuMemory Draft::gpu_memory() const {
  sim::Scenario smallest = scenario_;
  smallest.cluster.gpus = row_.gpus.front();
  const auto taken = [this, smallest, chosen = stack()](std::int64_t micro_batch) {
    const models::Model model = sim::build_workload(smallest, micro_batch, catalogue_.data());
    return sim::data_parallel_memory(model, smallest.training, chosen, true).total();
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

Reason Draft::map_batches() {
  if (row_.gpus.size() < 2) return unsupported("a single number of GPUs");
  const BatchFact& limits = *tables_.batches.first(texts_);
  steps_ = plan_batches(row_.rule, batch_in_samples(), row_.gpus, gpu_memory());
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
bool Draft::carries_over(const StepBatch& step) const {
  const StepBatch& anchor = steps_.front();
  return step.global() == anchor.global() || step.accumulation == anchor.accumulation;
}

// A node cannot be slower at input than the anchor shows it to be.
Reason Draft::map_input() {
  const LoaderFact* fact = tables_.loaders.first(texts_);
  if (fact == nullptr) return std::nullopt;
  const auto nodes = static_cast<double>((row_.gpus.front() + node_.gpus - 1) / node_.gpus);
  const double shown = anchor_samples_per_second() / nodes;
  sim::InputPipeline& input = scenario_.input;
  if (fact->samples_per_s_per_node.value_or(0) > shown) input.samples_per_s_per_node = fact->samples_per_s_per_node;
  const double vcpus = static_cast<double>(node_.vcpus);
  if (fact->samples_per_s_per_vcpu.value_or(0) * vcpus > shown) {
    input.samples_per_s_per_vcpu = fact->samples_per_s_per_vcpu;
  }
  return std::nullopt;
}

FamilyPoint Draft::point(std::size_t at) const {
  const StepBatch &step = steps_[at], &anchor = steps_.front();
  FamilyPoint point;
  point.gpus = row_.gpus[at];
  point.samples = step.samples;
  point.measured_speedup = measured_speedup(row_, 0, at);
  point.scenario = scenario_;
  point.scenario.cluster.gpus = step.gpus;
  point.scenario.training.micro_batch = step.micro;
  point.scenario.training.global_batch = step.global();
  // Under strong scaling a measured step is one of the same global batch; rounded shares make other ones.
  const bool is_strong = row_.rule == BatchRule::global && step.global() == anchor.global();
  point.scenario.training.scaling = is_strong ? sim::Scaling::strong : sim::Scaling::weak;
  point.scenario.measured = {{"", anchor.gpus, anchor.micro, anchor_step_seconds()}};
  return point;
}

Family Draft::family() const {
  Family family;
  family.id = row_.id;
  family.group = row_.group;
  family.kind = kind_;
  family.anchor = point(0);
  for (std::size_t at = 1; at < row_.gpus.size(); ++at) family.points.push_back(point(at));
  std::string name = row_.id;
  if (!notes_.empty()) name += " (" + joined(notes_, "; ") + ")";
  family.anchor.scenario.name = name;
  for (FamilyPoint& each : family.points) each.scenario.name = name;
  return family;
}

std::set<std::string> zoo_names(const DataStore& data) {
  std::set<std::string> names;
  for (const DataFile& file : data.files("zoo")) names.insert(file.name);
  return names;
}

std::set<std::string> stack_names(const calibrate::Catalogue& catalogue) {
  const std::vector<std::string> names = catalogue.stack_names();
  return {names.begin(), names.end()};
}

}  // namespace

FamilyMapper::FamilyMapper(const calibrate::Catalogue& catalogue)
    : catalogue_(catalogue),
      tables_(catalogue.data()),
      zoo_(zoo_names(catalogue.data())),
      stacks_(stack_names(catalogue)) {}

std::variant<Family, DeclinedFamily> FamilyMapper::map(const FamilyRow& row) const {
  Draft draft(row, catalogue_, tables_, zoo_, stacks_);
  if (const Reason reason = draft.map()) return DeclinedFamily{row.id, row.group, draft.kind(), *reason};
  return draft.family();
}

}  // namespace foretrain::scenarios
