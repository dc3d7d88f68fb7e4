#include "scenarios/corpus/family_draft.h"

#include <utility>

#include "base/text.h"

namespace foretrain::scenarios {

using sim::Family;
using sim::FamilyPoint;

namespace {

std::set<std::string> zoo_names(const DataStore& data) {
  std::set<std::string> names;
  for (const DataFile& file : data.files("zoo")) names.insert(file.name);
  return names;
}

std::set<std::string> stack_names(const calibrate::Catalogue& catalogue) {
  const std::vector<std::string> names = catalogue.stack_names();
  return {names.begin(), names.end()};
}

// All that a row says of its machines, for words that stand now in one column and now in another.
std::string hardware_words(const Texts& texts) {
  return texts.at("gpu") + "; " + texts.at("intra_node") + "; " + texts.at("inter_node") + "; " + texts.at("variant");
}

}  // namespace

Reason unsupported(const std::string& what) { return "unsupported: " + what; }

MappingTargets::MappingTargets(const calibrate::Catalogue& from)
    : catalogue(from), tables(from.data()), zoo(zoo_names(from.data())), stacks(stack_names(from)) {}

FamilyDraft::FamilyDraft(const FamilyRow& row, const MappingTargets& targets)
    : row_(row), catalogue_(targets.catalogue), tables_(targets.tables), targets_(targets), texts_(row.texts) {}

Reason FamilyDraft::map() {
  using Step = Reason (FamilyDraft::*)();
  for (const Step step :
       {&FamilyDraft::map_node, &FamilyDraft::map_model, &FamilyDraft::map_units, &FamilyDraft::map_stack,
        &FamilyDraft::map_precision, &FamilyDraft::map_batches, &FamilyDraft::map_input}) {
    if (Reason reason = (this->*step)()) return reason;
  }
  return std::nullopt;
}

Reason FamilyDraft::map_node() {
  texts_["hardware"] = hardware_words(texts_);
  const DeviceFact* fact = tables_.gpus.first(texts_);
  if (fact == nullptr || !fact->unsupported.empty()) return unsupported("device");
  texts_["device"] = fact->device;
  node_ = find_node(texts_, row_.gpus.back(), catalogue_, tables_);
  scenario_.cluster = node_.cluster;
  scenario_.cluster.where = row_.place;
  texts_["network"] = node_.network;
  texts_["kind"] = kind_ = "single node";
  if (row_.gpus.back() <= node_.gpus) return std::nullopt;
  if (const std::string* reason = tables_.unsupported_networks.first(texts_)) {
    kind_ = "another network";
    return unsupported(*reason);
  }
  const std::string* group = tables_.network_groups.first(texts_);
  if (!node_.network_known || group == nullptr) return unsupported("network that nobody states");
  texts_["kind"] = kind_ = node_.network_stated ? *group : "network not stated";
  return std::nullopt;
}

Reason FamilyDraft::map_stack() {
  const StackFact* fact = tables_.stacks.first(texts_);
  if (fact == nullptr) return unsupported("software");
  if (!fact->unsupported.empty()) return unsupported(fact->unsupported);
  const bool leaves_node = row_.gpus.back() > node_.gpus && !fact->across_nodes.empty();
  scenario_.stack.name = leaves_node ? fact->across_nodes : fact->stack;
  if (targets_.stacks.count(scenario_.stack.name) == 0) return unsupported("software");
  for (const NumbersFact* options : tables_.stack_options.all(texts_)) {
    for (const auto& [key, value] : *options) scenario_.stack.options[key] = value;
  }
  const bool* sharded = tables_.sharded_tables.first(texts_);
  if (sharded != nullptr && *sharded) scenario_.plan.tables = "sharded";
  if (fact->parameter_server) kind_ = "parameter server";
  return std::nullopt;
}

// A node cannot be slower at input than the anchor shows it to be.
Reason FamilyDraft::map_input() {
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

FamilyPoint FamilyDraft::point(std::size_t at) const {
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

Family FamilyDraft::family() const {
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

}  // namespace foretrain::scenarios
