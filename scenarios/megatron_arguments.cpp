#include "scenarios/megatron_arguments.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace foretrain::scenarios {

// A switch that some versions name by what it turns on and others by what it turns off.
std::optional<bool> switched(const ArgumentList& arguments, const std::vector<std::string>& on,
                             const std::vector<std::string>& off) {
  if (const auto value = arguments.flag(on)) return value;
  if (const auto value = arguments.flag(off)) return !*value;
  return std::nullopt;
}

std::int64_t required_argument(const ArgumentList& arguments, const std::vector<std::string>& names,
                               std::int64_t high) {
  const auto value = arguments.integer(names, 1, high);
  if (value) return *value;
  const std::string shown = shown_argument(names.front(), arguments.from_log());
  arguments.fail("", shown + " is missing",
                 arguments.from_log() ? "pass the whole log of rank 0"
                                      : "write it into the script, or pass the log of a run");
}

namespace {

struct Unsimulated {
  const char* name;
  const char* what;
  std::int64_t usual;  // greatest value that means "not used"
};

// Numbers that change the run from a certain value on.
constexpr Unsimulated unsimulated_numbers[] = {
    {"context_parallel_size", "context parallelism", 1},
    {"ds_sequence_parallel_size", "DeepSpeed's sequence parallelism", 1},
    {"expert_model_parallel_size", "expert parallelism", 1},
    {"moe_expert_parallel_size", "expert parallelism", 1},
    {"mtp_num_layers", "multi-token prediction", 0},
    {"cpu_offloading_num_layers", "offloading to the host", 0},
    {"num_unique_layers", "layers that share weights", 0},
    {"decoder_num_layers", "an encoder beside the decoder", 0},
    {"encoder_tensor_model_parallel_size", "an encoder beside the decoder", 0},
    {"encoder_pipeline_model_parallel_size", "an encoder beside the decoder", 0},
    {"pipeline_model_parallel_split_rank", "an encoder beside the decoder", 0},
};
// Switches.
constexpr Unsimulated unsimulated_flags[] = {
    {"multi_latent_attention", "multi-head latent attention", 0},
    {"optimizer_cpu_offload", "offloading to the host", 0},
    {"cpu_offloading", "offloading to the host", 0},
    {"cpu_optimizer", "offloading to the host", 0},
    {"checkpoint_in_cpu", "offloading to the host", 0},
    {"standalone_embedding_stage", "a stage of its own for the embedding", 0},
    {"is_hybrid_model", "layers of several kinds", 0},
};
// Switches whose effect is left out of the answer.
constexpr Unsimulated approximated_flags[] = {
    {"partition_activations", "kept inputs are spread over tensor-parallel ranks", 0},
    {"distribute_checkpointed_activations", "kept inputs are spread over tensor-parallel ranks", 0},
    {"distribute_saved_activations", "kept inputs are spread over tensor-parallel ranks", 0},
    {"tp_comm_overlap", "tensor-parallel transfers run beside products", 0},
    {"enable_cuda_graph", "launches are replayed as graphs", 0},
    {"external_cuda_graph", "launches are replayed as graphs", 0},
    {"fp8_param_gather", "parameters are gathered in fp8", 0},
    {"use_precision_aware_optimizer", "optimizer state of fewer bytes", 0},
    {"curriculum_learning_legacy", "short sequences at first", 0},
};

}  // namespace

const std::set<std::string>& megatron_flags() {
  static const std::set<std::string> flags = [] {
    std::set<std::string> all = {"sequence_parallel",
                                 "use_distributed_optimizer",
                                 "fp16",
                                 "bf16",
                                 "fp8_e4m3",
                                 "fp8_hybrid",
                                 "swiglu",
                                 "squared_relu",
                                 "openai_gelu",
                                 "group_query_attention",
                                 "untie_embeddings_and_output_weights",
                                 "use_rotary_position_embeddings",
                                 "no_position_embedding",
                                 "disable_bias_linear",
                                 "add_qkv_bias",
                                 "checkpoint_activations",
                                 "deepspeed_activation_checkpointing",
                                 "recompute_activations",
                                 "overlap_grad_reduce",
                                 "overlap_param_gather",
                                 "no_overlap_p2p_communication",
                                 "no_scatter_gather_tensors_in_pipeline",
                                 "use_flash_attn",
                                 "use_flash_attn_v1",
                                 "use_flash_attn_v2",
                                 "use_flash_attn_triton",
                                 "use_mcore_models",
                                 "use_legacy_models",
                                 "accumulate_allreduce_grads_in_fp32",
                                 "grad_reduce_in_bf16",
                                 "account_for_embedding_in_pipeline_split",
                                 "account_for_loss_in_pipeline_split",
                                 "use_torch_fsdp2",
                                 "use_megatron_fsdp",
                                 "use_custom_fsdp",
                                 "deepspeed",
                                 "qk_layernorm",
                                 "no_gradient_accumulation_fusion",
                                 "no_bias_gelu_fusion",
                                 "no_bias_dropout_fusion",
                                 "no_masked_softmax_fusion",
                                 "no_async_tensor_model_parallel_allreduce",
                                 "no_query_key_layer_scaling",
                                 "no_pipeline_parallel"};
    for (const Unsimulated& one : unsimulated_flags) all.insert(one.name);
    for (const Unsimulated& one : approximated_flags) all.insert(one.name);
    return all;
  }();
  return flags;
}

void check_megatron_arguments(const ArgumentList& arguments, std::vector<std::string>& notes) {
  const auto refuse = [&](const std::string& name, const std::string& what) {
    const std::string shown = shown_argument(name, arguments.from_log());
    arguments.fail(name, fmt::format("{} asks for {}, which is not simulated", shown, what),
                   "without it the answer would be about another run");
  };
  for (const Unsimulated& one : unsimulated_numbers) {
    if (arguments.integer({one.name}, 0, widest_megatron_size).value_or(0) > one.usual) refuse(one.name, one.what);
  }
  for (const Unsimulated& one : unsimulated_flags) {
    if (arguments.is_set({one.name})) refuse(one.name, one.what);
  }
  if (const auto experts = arguments.text({"num_experts"})) {  // Megatron-DeepSpeed prints a list
    if (*experts != "0" && *experts != "1" && *experts != "[1]") refuse("num_experts", "mixtures of experts");
  }
  if (const auto device = arguments.text({"remote_device"}); device && *device != "none") {
    refuse("remote_device", "offloading to the host");
  }
  if (arguments.text({"window_size"})) refuse("window_size", "attention over a sliding window");
  if (arguments.text({"heterogeneous_layers_config_path"})) {
    refuse("heterogeneous_layers_config_path", "layers of several kinds");
  }
  for (const Unsimulated& one : approximated_flags) {
    if (!arguments.is_set({one.name})) continue;
    notes.push_back(fmt::format("left out of the answer: {} ({})", shown_argument(one.name, arguments.from_log()),
                                one.what));
  }
  if (arguments.text({"rampup_batch_size"})) {
    notes.emplace_back("the global batch grows at first (rampup batch size): the answer is about the full one");
  }
}

}  // namespace foretrain::scenarios
