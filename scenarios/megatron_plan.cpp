#include "scenarios/megatron_arguments.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

using Names = std::vector<std::string>;

std::int64_t degree(const ArgumentList& arguments, const Names& names) {
  return arguments.integer(names, 1, most_megatron_ranks).value_or(1);
}

void add_recompute(const ArgumentList& arguments, Json& plan) {
  const Names granularities = {"recompute_granularity", "activations_checkpoint_granularity"};
  std::string granularity = arguments.text(granularities).value_or("");
  if (granularity.empty() && arguments.is_set({"recompute_activations"})) granularity = "selective";
  const bool checkpoints = arguments.is_set({"checkpoint_activations"});
  const auto method = arguments.text({"recompute_method", "activations_checkpoint_method"});
  if (granularity.empty() && (checkpoints || method)) granularity = "full";
  if (granularity.empty()) return;
  if (granularity != "full" && granularity != "selective") {
    arguments.fail("recompute_granularity", quoted(granularity) + " is no way to recompute", "full or selective");
  }
  plan["recompute"] = granularity;
  if (granularity == "selective") {
    if (const auto modules = arguments.text({"recompute_modules"});
        modules && *modules != "core_attn" && *modules != "['core_attn']") {
      arguments.fail("recompute_modules", "recomputing " + quoted(*modules) + " is not simulated",
                     "the attention core is (core_attn)");
    }
    return;
  }
  const auto layers = arguments.integer({"recompute_num_layers", "checkpoint_num_layers",
                                         "activations_checkpoint_num_layers"}, 1, most_megatron_layers);
  if (method.value_or("uniform") == "block") {
    arguments.fail(arguments.has("recompute_method") ? "recompute_method" : "activations_checkpoint_method",
                   "recomputing some of a stage's layers (block) is not simulated",
                   "uniform is, which recomputes all of them");
  }
  if (layers.value_or(1) > 1) plan["recompute_every"] = *layers;
}

// Layers of stages that are not alike; empty when they are.
std::vector<std::int64_t> stage_layers(const ArgumentList& arguments, std::int64_t stages, std::int64_t interleave) {
  const std::int64_t layers = required_argument(arguments, {"num_layers", "encoder_num_layers"}, most_megatron_layers);
  const Names firsts = {"decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage"};
  const Names lasts = {"decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage"};
  const auto first = arguments.integer(firsts, 0, layers), last = arguments.integer(lasts, 0, layers);
  const std::int64_t embedding = arguments.is_set({"account_for_embedding_in_pipeline_split"}) ? 1 : 0;
  const std::int64_t loss = arguments.is_set({"account_for_loss_in_pipeline_split"}) ? 1 : 0;
  if (!first && !last && embedding + loss == 0) return {};
  std::string name = embedding > 0 ? "account_for_embedding_in_pipeline_split" : "account_for_loss_in_pipeline_split";
  for (const Names& names : {lasts, firsts}) {
    for (const std::string& one : names) {
      if (arguments.has(one)) name = one;
    }
  }
  if (stages == 1 || interleave > 1) {
    arguments.fail(name, "stages of unequal layers go with a pipeline without virtual stages only",
                   "say the layers of every chunk as plan.stage_layers in a scenario");
  }
  const std::int64_t others = stages - (first ? 1 : 0) - (last ? 1 : 0);
  const std::int64_t rest = layers + embedding + loss - first.value_or(0) - last.value_or(0);
  if (rest < 0 || (others == 0 ? rest != 0 : rest % others != 0)) {
    arguments.fail(name, fmt::format("{} layers do not deal out to {} stages like this", layers, stages));
  }
  std::vector<std::int64_t> each(static_cast<std::size_t>(stages), others == 0 ? 0 : rest / others);
  each.front() = first.value_or(each.front() - embedding);
  each.back() = last.value_or(each.back() - loss);
  if (each.front() < 0 || each.back() < 0) arguments.fail(name, "a stage has fewer than no layers");
  return each;
}

std::int64_t chunks_per_stage(const ArgumentList& arguments, std::int64_t stages) {
  const Names of_layers = {"num_layers_per_virtual_pipeline_stage"};
  const auto stated = arguments.integer(
      {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"}, 1, most_megatron_layers);
  const auto per_chunk = arguments.integer(of_layers, 1, most_megatron_layers);
  if (stated) return *stated;
  if (!per_chunk) return 1;
  const std::int64_t layers = required_argument(arguments, {"num_layers", "encoder_num_layers"}, most_megatron_layers);
  if (layers % (stages * *per_chunk) != 0) {
    arguments.fail(of_layers.front(),
                   fmt::format("{} layers do not deal out to {} stages by {}", layers, stages, *per_chunk));
  }
  return layers / (stages * *per_chunk);
}

std::string sharding_of(const ArgumentList& arguments) {
  if (const auto stage = arguments.integer({"zero_stage"}, 0, 3)) {
    return *stage == 0 ? "none" : fmt::format("zero{}", *stage);
  }
  const bool fsdp = arguments.is_set({"use_megatron_fsdp", "use_custom_fsdp"});
  if (arguments.is_set({"use_torch_fsdp2"})) return "zero3";
  if (fsdp) {
    const std::string what = arguments.text({"data_parallel_sharding_strategy"}).value_or("no_shard");
    if (what == "optim_grads_params") return "zero3";
    if (what == "optim_grads") return "zero2";
    if (what == "optim") return "zero1";
  }
  return arguments.is_set({"use_distributed_optimizer"}) ? "zero1" : "none";
}

}  // namespace

Json megatron_plan(const ArgumentList& arguments) {
  const std::int64_t tensor = degree(arguments, {"tensor_model_parallel_size", "model_parallel_size"});
  const std::int64_t stages = degree(arguments, {"pipeline_model_parallel_size", "pipe_parallel_size"});
  Json plan = Json::object();
  if (tensor > 1) plan["tensor"] = tensor;
  if (arguments.is_set({"sequence_parallel"}) && tensor > 1) plan["sequence_parallel"] = true;
  if (stages > 1) plan["pipeline"] = stages;
  plan["sharding"] = sharding_of(arguments);
  add_recompute(arguments, plan);
  const std::int64_t chunks = chunks_per_stage(arguments, stages);
  if (stages > 1 && chunks > 1) {
    plan["schedule"] = "interleaved";
    plan["interleave"] = chunks;
  }
  const std::vector<std::int64_t> layers = stage_layers(arguments, stages, chunks);
  if (!layers.empty()) plan["stage_layers"] = layers;
  return plan;
}

}  // namespace foretrain::scenarios
