#include "scenarios/corpus/llm_draft.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "models/precision.h"

namespace foretrain::scenarios {
namespace {

// Columns that runs of one set share, and those in which its alternatives differ.
const std::vector<std::string> columns_of_set = {"file",  "source", "gpu_class", "gpus",         "model",     "layers",
                                                 "hidden", "seq_len", "precision", "global_batch", "recompute"};
const std::vector<std::string> columns_of_configuration = {"tp", "pp",  "dp",          "cp",       "ep",
                                                           "vpp", "micro_batch", "sharding", "schedule"};

Reason declined(const std::string& reason) { return reason.empty() ? Reason() : unsupported(reason); }

// Megatron-LM's feed-forward size where none is given: four times the hidden one, or two thirds of that in multiples of
// 64 where it is gated (arguments.py).
double usual_feed_forward(double hidden, bool gated) {
  return gated ? std::floor(8 * hidden / 3 / 64) * 64 : 4 * hidden;
}

}  // namespace

LlmTargets::LlmTargets(const calibrate::Catalogue& catalogue) : shared(catalogue), tables(catalogue.data()) {}

LlmDraft::LlmDraft(const LlmRow& row, const LlmTargets& targets)
    : row_(row), targets_(targets), tables_(targets.tables), texts_(row.texts) {}

Reason LlmDraft::map() {
  for (const auto check : {&LlmDraft::check_class, &LlmDraft::check_stated, &LlmDraft::check_degrees}) {
    if (Reason reason = (this->*check)()) return reason;
  }
  for (const auto step : {&LlmDraft::map_machine, &LlmDraft::map_model, &LlmDraft::map_training, &LlmDraft::map_plan,
                          &LlmDraft::map_software}) {
    if (Reason reason = (this->*step)()) return reason;
  }
  return std::nullopt;
}

sim::RunLabel LlmDraft::label() const {
  return {row_.id, row_.texts.at("file"), row_.texts.at("gpu_class"), row_.texts.at("tier"),
          row_.number("cp", 1) == 1 && row_.number("ep", 1) == 1};
}

Reason LlmDraft::check_class() const {
  if (!row_.step_seconds) return "not published: the step time";
  if (row_.number("cp", 1) > 1) return unsupported("context parallelism");
  if (row_.number("ep", 1) > 1) return unsupported("expert parallelism");
  const std::string* reason = tables_.unsupported.first(texts_);
  return reason == nullptr ? Reason() : declined(*reason);
}

Reason LlmDraft::check_stated() const {
  static const std::vector<std::pair<const char*, const char*>> needed = {
      {"gpus", "the number of GPUs"},   {"hidden", "the hidden size"},  {"heads", "attention heads"},
      {"seq_len", "the sequence length"}, {"global_batch", "the batch"}, {"micro_batch", "the micro-batch"},
      {"tp", "the tensor-parallel degree"}, {"pp", "the pipeline-parallel degree"},
      {"dp", "the data-parallel degree"}};
  std::vector<std::string> missing;
  if (row_.layers.empty()) missing.emplace_back("layers");
  for (const auto& [column, words] : needed) {
    if (!row_.states(column)) missing.emplace_back(words);
  }
  return missing.empty() ? Reason() : Reason("not stated: " + joined(missing));
}

Reason LlmDraft::check_degrees() const {
  const std::int64_t ranks = row_.number("tp", 1) * row_.number("pp", 1) * row_.number("dp", 1);
  if (ranks != row_.number("gpus", 1)) {
    return Reason("contradictory: the degrees do not multiply to the number of GPUs");
  }
  if (row_.number("global_batch", 1) % (row_.number("micro_batch", 1) * row_.number("dp", 1)) != 0) {
    return Reason("contradictory: the batch is no multiple of micro-batch and data-parallel degree");
  }
  return std::nullopt;
}

void LlmDraft::assume(const std::string& what, const std::string& instead) {
  if (what.empty()) return;
  notes_.push_back(fmt::format("{} not stated: {} assumed", what, instead));
  const AssumptionFact* fact = tables_.assumptions.first({{"assumed", what}});
  if (fact == nullptr) return;
  if (fact->between_nodes && row_.number("gpus", 1) <= node_.gpus) return;
  if (fact->pipelined && row_.number("pp", 1) == 1) return;
  assumed_variance_ += std::pow(fact->relative_spread, 2);
}

Reason LlmDraft::map_machine() {
  const TextFact* own = tables_.gpus.first(texts_);
  texts_["hardware"] = texts_["gpu"] + "; " + texts_["intra_node"] + "; " + texts_["inter_node"];
  if (own != nullptr) {
    if (!own->unsupported.empty()) return unsupported(own->unsupported);
    texts_["device"] = own->value;
  } else {
    const DeviceFact* shared = targets_.shared.tables.gpus.first(texts_);
    if (shared == nullptr || !shared->unsupported.empty()) return unsupported("device");
    texts_["device"] = shared->device;
  }
  // What the tables of speedup families ask for and these rows do not have.
  for (const char* column : {"variant", "where", "framework"}) texts_[column];
  const std::int64_t gpus = row_.number("gpus", 1);
  const CorpusTables& shared = targets_.shared.tables;
  const LlmMachineFact* fact = tables_.machines.first(texts_);
  MachineFact machine = fact == nullptr ? MachineFact() : fact->machine;
  const std::int64_t stated = row_.number("gpus_per_node", 0);
  if (fact != nullptr && machine.gpus_per_node == 0 && gpus > stated) machine.gpus_per_node = stated;
  node_ = fact == nullptr ? find_node(texts_, gpus, targets_.shared.catalogue, shared)
                          : node_of(machine, true, texts_, gpus, targets_.shared.catalogue, shared);
  scenario_.cluster = node_.cluster;
  scenario_.cluster.gpus = gpus;
  scenario_.cluster.where = row_.place;
  if (own != nullptr) assume(own->assumed, own->value);
  if (fact != nullptr) assume(fact->assumed, machine.machine);
  if (gpus > node_.gpus && !node_.network_known) return unsupported("network that nobody states");
  return std::nullopt;
}

// What the name and the notes say, then the columns.
void LlmDraft::take_sizes() {
  std::map<std::string, double>& sizes = scenario_.model.overrides;
  const RuleTable<NumbersFact>& rules = has_encoder() ? tables_.encoder_decoder_sizes : tables_.sizes;
  for (const NumbersFact* fact : rules.all(texts_)) {
    for (const auto& [key, value] : *fact) sizes[key] = value;
  }
  const auto number = [&](const char* column) { return static_cast<double>(row_.number(column, 0)); };
  sizes["layers"] = static_cast<double>(row_.layers.front());
  sizes["hidden"] = number("hidden");
  sizes["heads"] = number("heads");
  sizes["sequence"] = number("seq_len");
  if (has_encoder()) {
    sizes["decoder_layers"] = static_cast<double>(row_.layers.back());
  } else {
    sizes["positions"] = number("seq_len");
    if (row_.states("kv_heads")) sizes["key_value_heads"] = number("kv_heads");
  }
  const auto gated = sizes.find("gated_feed_forward");
  sizes["feed_forward"] = row_.states("ffn")
                              ? number("ffn")
                              : usual_feed_forward(number("hidden"), gated != sizes.end() && gated->second != 0);
}

Reason LlmDraft::map_model() {
  const std::string* zoo = tables_.zoo.first(texts_);
  if (zoo == nullptr || targets_.shared.zoo.count(*zoo) == 0) return unsupported("model");
  scenario_.model.name = *zoo;
  scenario_.model.where = row_.place + ": model";
  take_sizes();
  if (has_encoder() && scenario_.model.overrides.count("decoder_sequence") == 0) {
    return Reason("not stated: the decoder's sequence length");
  }
  return map_vocabulary();
}

Reason LlmDraft::map_vocabulary() {
  double& size = scenario_.model.overrides["vocabulary"];
  size = static_cast<double>(row_.number("vocab", 0));
  if (row_.states("vocab")) return std::nullopt;
  const NumberFact* vocabulary = tables_.vocabularies.first(texts_);
  if (vocabulary == nullptr) return Reason("not stated: the vocabulary");
  size = vocabulary->value;
  assume(vocabulary->assumed, fmt::format("{}", vocabulary->value));
  return std::nullopt;
}

Reason LlmDraft::map_training() {
  sim::Training& training = scenario_.training;
  training.micro_batch = row_.number("micro_batch", 1);
  training.global_batch = row_.number("global_batch", 1);
  training.sequence = row_.number("seq_len", 1);
  training.scaling = sim::Scaling::strong;
  const TextFact* precision = tables_.precisions.first(texts_);
  if (precision == nullptr) return unsupported("number format");
  if (!precision->unsupported.empty()) return unsupported(precision->unsupported);
  training.precision = models::precision_from(precision->value);
  assume(precision->assumed, precision->value);
  if (node_.device->peak.count(training.precision) == 0) return unsupported("number format that the device lacks");
  return std::nullopt;
}

// Where layers do not divide into chunks but two more would, embedding and head stand for one layer each: the only way
// in which Megatron-LM splits such models evenly (account_for_embedding_in_pipeline_split and ..._loss_...).
void LlmDraft::split_stages() {
  sim::Plan& plan = scenario_.plan;
  const std::int64_t layers = row_.layers.front(), chunks = plan.pipeline * plan.interleave;
  if (plan.pipeline == 1 || layers % chunks == 0 || (layers + 2) % chunks != 0) return;
  plan.stage_layers.assign(static_cast<std::size_t>(chunks), (layers + 2) / chunks);
  --plan.stage_layers.front();
  --plan.stage_layers.back();
}

Reason LlmDraft::map_plan() {
  sim::Plan& plan = scenario_.plan;
  plan.tensor = row_.number("tp", 1);
  plan.pipeline = row_.number("pp", 1);
  if (const ShardingFact* sharding = tables_.sharding.first(texts_)) {
    plan.sharding = sharding->sharding;
    plan.shard_group = sharding->shard_group;
  }
  const TextFact* recompute = tables_.recompute.first(texts_);
  if (recompute == nullptr) return unsupported("kind of recompute");
  if (!recompute->unsupported.empty()) return unsupported(recompute->unsupported);
  plan.recompute = recompute->value;
  assume(recompute->assumed, recompute->value);
  if (const TextFact* sequence = tables_.sequence_parallel.first(texts_); sequence != nullptr && plan.tensor > 1) {
    plan.sequence_parallel = sequence->value == "yes";
    assume(sequence->assumed, sequence->value);
  }
  if (plan.pipeline == 1) return std::nullopt;
  const TextFact* schedule = tables_.schedules.first(texts_);
  if (schedule == nullptr) return unsupported("pipeline schedule");
  if (!schedule->unsupported.empty()) return unsupported(schedule->unsupported);
  plan.schedule = schedule->value;
  plan.interleave = row_.number("vpp", 1);
  if (plan.schedule == "interleaved" && micro_batches() % plan.pipeline != 0) {
    return unsupported("interleaved micro-batches that are no multiple of the stages");
  }
  assume(schedule->assumed, schedule->value);
  split_stages();
  return std::nullopt;
}

Reason LlmDraft::map_software() {
  const TextFact* stack = tables_.stacks.first(texts_);
  if (stack == nullptr) return unsupported("software");
  if (!stack->unsupported.empty()) return unsupported(stack->unsupported);
  if (targets_.shared.stacks.count(stack->value) == 0) return unsupported("software");
  scenario_.stack.name = stack->value;
  assume(stack->assumed, stack->value);
  for (const NumbersFact* options : tables_.stack_options.all(texts_)) {
    for (const auto& [key, value] : *options) scenario_.stack.options[key] = value;
  }
  return std::nullopt;
}

// Per layer 24·B·s·h²·(1 + s/6h) forward, twice that backward, and once more where layers are recomputed; logits
// 6·B·s·h·V in all. Encoder and decoder each at their own length, without attention from one to the other.
double LlmDraft::ideal_step_seconds() const {
  const auto size = [&](const char* key) { return scenario_.model.overrides.at(key); };
  const double batch = static_cast<double>(scenario_.training.global_batch), hidden = size("hidden");
  const double forward_passes = scenario_.plan.recompute == "full" ? 4 : 3;
  const auto blocks = [&](double layers, double sequence) {
    return forward_passes * 24 * batch * sequence * layers * hidden * hidden * (1 + sequence / (6 * hidden));
  };
  double flops = blocks(size("layers"), size("sequence")), length = size("sequence");
  if (has_encoder()) {
    length = size("decoder_sequence");
    flops += blocks(size("decoder_layers"), length);
  }
  flops += 6 * batch * length * hidden * size("vocabulary");
  const double peak = node_.device->peak.at(scenario_.training.precision).value;
  return flops / peak / static_cast<double>(scenario_.cluster.gpus);
}

std::int64_t LlmDraft::micro_batches() const {
  return row_.number("global_batch", 1) / (row_.number("micro_batch", 1) * row_.number("dp", 1));
}

std::string LlmDraft::joined_texts(const std::vector<std::string>& columns) const {
  std::string text;
  for (const std::string& column : columns) text += row_.texts.at(column) + '\x1f';
  return text;
}

sim::LlmRun LlmDraft::run() const {
  sim::LlmRun run;
  run.label = label();
  run.scenario = scenario_;
  run.scenario.name = notes_.empty() ? row_.id : fmt::format("{} ({})", row_.id, joined(notes_, "; "));
  run.measured_step_seconds = *row_.step_seconds;
  run.assumed_spread = std::sqrt(assumed_variance_);
  run.ideal_step_seconds = ideal_step_seconds();
  const sim::Plan& plan = scenario_.plan;
  run.bubble = static_cast<double>(plan.pipeline - 1) / static_cast<double>(micro_batches() * plan.interleave);
  run.set = joined_texts(columns_of_set);
  run.configuration = joined_texts(columns_of_configuration);
  return run;
}

}  // namespace foretrain::scenarios
