#include "scenarios/megatron_arguments.h"

#include <nlohmann/json.hpp>

namespace foretrain::scenarios {
namespace {

using Names = std::vector<std::string>;

bool is_deepspeed(const ArgumentList& arguments) {
  const bool stage = arguments.integer({"zero_stage"}, 0, 3).value_or(0) > 0;
  const bool configured = arguments.text({"deepspeed_config"}).has_value();
  return arguments.is_set({"deepspeed"}) || stage || (configured && !arguments.from_log());
}

// Arguments that came with Megatron-Core's times (Megatron-LM from the end of 2022 on).
bool is_core(const ArgumentList& arguments) {
  for (const char* name :
       {"transformer_impl", "use_mcore_models", "use_legacy_models", "overlap_grad_reduce", "overlap_param_gather",
        "use_flash_attn", "swiglu", "group_query_attention", "tp_comm_overlap", "untie_embeddings_and_output_weights",
        "normalization", "attention_backend", "ckpt_format"}) {
    if (arguments.has(name)) return true;
  }
  return false;
}

void add_core_options(const ArgumentList& arguments, std::int64_t chunks, bool half, Json& options) {
  if (!arguments.is_set({"overlap_grad_reduce"})) options["overlap"] = 0;
  if (!arguments.is_set({"overlap_param_gather"})) options["overlap_parameter_gather"] = 0;
  const bool flash = arguments.is_set({"use_flash_attn"});
  const std::string backend = arguments.text({"attention_backend"}).value_or("");
  const bool local = arguments.text({"transformer_impl"}).value_or("") == "local" && !flash;
  const bool unfused = backend.find("unfused") != std::string::npos || backend.find("local") != std::string::npos;
  if (local || unfused) options["fused_attention"] = 0;
  const bool overlapping =
      switched(arguments, {"overlap_p2p_comm"}, {"no_overlap_p2p_communication"}).value_or(!arguments.from_log());
  if (chunks > 1 && overlapping) options["pipeline_overlap"] = 1;
  // In bf16 gradients are summed up in four bytes unless that is turned off.
  const bool by_default =
      !arguments.from_log() && arguments.is_set({"bf16"}) && !arguments.is_set({"grad_reduce_in_bf16"});
  const bool four = arguments.is_set({"accumulate_allreduce_grads_in_fp32"}) || by_default;
  if (half && !four) options["gradient_storage_bytes"] = options["gradient_bytes_per_parameter"] = 2;
}

void add_deepspeed_options(const ArgumentList& arguments, std::int64_t stages, Json& options) {
  constexpr std::int64_t most_elements = 100000000000;
  const bool flash = arguments.is_set({"use_flash_attn", "use_flash_attn_v1"}) ||
                     arguments.is_set({"use_flash_attn_v2"}) || arguments.is_set({"use_flash_attn_triton"});
  options["fused_elementwise"] = 1;  // the model's code is Megatron's
  options["fused_attention"] = flash ? 1 : 0;
  // DeepSpeed's pipeline engine reduces gradients after the last micro-batch.
  if (stages > 1) options["overlap"] = 0;
  if (const auto elements = arguments.integer({"zero_reduce_bucket_size"}, 1, most_elements)) {
    const std::int64_t bytes = *elements * 4;  // as stacks count the limits of buckets
    options["first_bucket_bytes"] = options["bucket_bytes"] = bytes;
  }
}

}  // namespace

Json megatron_stack(const ArgumentList& arguments, const Json& plan, const std::string& precision) {
  const bool half = precision != "fp32";
  const auto stages = plan.value("pipeline", std::int64_t{1}), chunks = plan.value("interleave", std::int64_t{1});
  Json options = Json::object();
  std::string name = "megatron";
  if (is_deepspeed(arguments)) {
    name = "deepspeed";
    arguments.mark({"accumulate_allreduce_grads_in_fp32", "DDP_impl", "deepspeed_activation_checkpointing"});
    add_deepspeed_options(arguments, stages, options);
  } else if (is_core(arguments)) {
    name = "megatron-core";
    add_core_options(arguments, chunks, half, options);
  } else if (half) {
    const bool four = arguments.is_set({"accumulate_allreduce_grads_in_fp32"}) || precision == "bf16";
    options["gradient_storage_bytes"] = options["gradient_bytes_per_parameter"] = four ? 4 : 2;
  }
  if (!switched(arguments, {"gradient_accumulation_fusion"}, {"no_gradient_accumulation_fusion"}).value_or(true)) {
    options["fused_gradient_sum"] = 0;
  }
  if (arguments.number({"clip_grad"}).value_or(1) == 0) options["gradient_norm"] = 0;
  constexpr std::int64_t usual_multiple = 128;
  const auto multiple = arguments.integer({"make_vocab_size_divisible_by"}, 1, most_megatron_ranks);
  if (name == "deepspeed" || multiple.value_or(usual_multiple) != usual_multiple) {
    options["vocabulary_multiple"] = multiple.value_or(usual_multiple);
  }
  const Names scatters = {"scatter_gather_tensors_in_pipeline"};
  if (!switched(arguments, scatters, {"no_scatter_gather_tensors_in_pipeline"}).value_or(true)) {
    options["scatter_gather_transfers"] = 0;
  }
  Json stack = {{"name", name}};
  if (!options.empty()) stack["options"] = options;
  return stack;
}

}  // namespace foretrain::scenarios
