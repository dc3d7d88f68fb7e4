#include "scenarios/megatron_arguments.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t most_ranks = 65536, most_layers = 10000, widest = 10000000;

// A switch that some versions name by what it turns on and others by what it turns off.
std::optional<bool> state(const ArgumentList& arguments, const Names& on, const Names& off) {
  if (const auto value = arguments.flag(on)) return value;
  if (const auto value = arguments.flag(off)) return !*value;
  return std::nullopt;
}

std::int64_t required(const ArgumentList& arguments, const Names& names, std::int64_t high) {
  const auto value = arguments.integer(names, 1, high);
  if (value) return *value;
  const std::string shown = shown_argument(names.front(), arguments.from_log());
  arguments.fail("", shown + " is missing",
                 arguments.from_log() ? "pass the whole log of rank 0"
                                      : "write it into the script, or pass the log of a run");
}

std::int64_t degree(const ArgumentList& arguments, const Names& names) {
  return arguments.integer(names, 1, most_ranks).value_or(1);
}

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
    arguments.fail(name,
                   fmt::format("{} asks for {}, which is not simulated", shown_argument(name, arguments.from_log()), what),
                   "without it the answer would be about another run");
  };
  for (const Unsimulated& one : unsimulated_numbers) {
    if (arguments.integer({one.name}, 0, widest).value_or(0) > one.usual) refuse(one.name, one.what);
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

namespace {

// Rows of the feed-forward network where none are stated: four times the hidden size; with SwiGLU two thirds of that,
// to a multiple of 64 (megatron/training/arguments.py).
std::int64_t usual_feed_forward(std::int64_t hidden, bool gated) {
  constexpr std::int64_t times = 4, multiple = 64;
  return gated ? times * hidden * 2 / 3 / multiple * multiple : times * hidden;
}

std::string positions_of(const ArgumentList& arguments) {
  if (arguments.is_set({"use_rotary_position_embeddings"})) return "rope";
  if (!state(arguments, {"add_position_embedding"}, {"no_position_embedding"}).value_or(true)) {
    return arguments.text({"position_embedding_type"}).value_or("none") == "rope" ? "rope" : "none";
  }
  return arguments.text({"position_embedding_type"}).value_or("learned_absolute");
}

void add_vocabulary(const ArgumentList& arguments, Json& model, std::vector<std::string>& notes) {
  constexpr std::int64_t gpt2_vocabulary = 50257;  // Radford et al. 2019
  const auto padded = arguments.integer({"padded_vocab_size"}, 1, widest);
  const auto stated = arguments.integer({"vocab_size"}, 1, widest);
  const std::string tokenizer = arguments.text({"tokenizer_type"}).value_or("");
  if (padded || stated) {
    model["vocabulary"] = padded ? *padded : *stated;
  } else if (tokenizer == "GPT2BPETokenizer") {
    model["vocabulary"] = gpt2_vocabulary;
  } else {
    notes.emplace_back("the size of the vocabulary is not stated: taken from the zoo entry (--set model.vocabulary=…)");
  }
}

}  // namespace

Json megatron_model(const ArgumentList& arguments, std::vector<std::string>& notes) {
  const std::int64_t hidden = required(arguments, {"hidden_size"}, widest);
  const std::int64_t heads = required(arguments, {"num_attention_heads"}, widest);
  const bool gated = arguments.is_set({"swiglu"});
  Json model = {{"zoo", "megatron-gpt"},
                {"layers", required(arguments, {"num_layers", "encoder_num_layers"}, most_layers)},
                {"hidden", hidden},
                {"heads", heads}};
  if (arguments.is_set({"group_query_attention"})) {
    model["key_value_heads"] = required(arguments, {"num_query_groups"}, widest);
  }
  if (const auto channels = arguments.integer({"kv_channels"}, 1, widest); channels && *channels * heads != hidden) {
    model["head_dimension"] = *channels;
  }
  model["feed_forward"] =
      arguments.integer({"ffn_hidden_size"}, 1, widest).value_or(usual_feed_forward(hidden, gated));
  if (gated) model["gated_feed_forward"] = 1;
  if (arguments.text({"normalization"}).value_or("LayerNorm") == "RMSNorm") model["rms_norm"] = 1;
  const std::string positions = positions_of(arguments);
  const auto table = arguments.integer({"max_position_embeddings"}, 1, widest);
  if (positions == "learned_absolute") {
    model["positions"] = table ? *table : required(arguments, {"seq_length", "encoder_seq_length"}, widest);
  } else {
    model["learned_positions"] = 0;
    if (positions == "rope") model["rotary_positions"] = 1;
  }
  if (!state(arguments, {"add_bias_linear"}, {"disable_bias_linear"}).value_or(true)) {
    model["biases"] = 0;
    model["query_key_value_biases"] = arguments.is_set({"add_qkv_bias"}) ? 1 : 0;
  }
  if (arguments.is_set({"qk_layernorm"})) model["query_key_norms"] = 1;
  if (arguments.is_set({"untie_embeddings_and_output_weights"})) model["tied_embeddings"] = 0;
  constexpr double usual_dropout = 0.1;
  const double dropout = std::max(arguments.number({"hidden_dropout"}).value_or(usual_dropout),
                                  arguments.number({"attention_dropout"}).value_or(usual_dropout));
  if (dropout == 0) model["dropout"] = 0;
  add_vocabulary(arguments, model, notes);
  return model;
}

Json megatron_training(const ArgumentList& arguments, const Json& plan, std::optional<std::int64_t> gpus) {
  constexpr std::int64_t most_samples = 1000000, largest_global = 1000000000000;
  const std::int64_t micro = required(arguments, {"micro_batch_size", "batch_size"}, most_samples);
  Json training = {{"micro_batch", micro}};
  const auto accumulation = arguments.integer({"gas", "gradient_accumulation_steps"}, 1, most_samples);
  const std::int64_t replica = plan.value("tensor", std::int64_t{1}) * plan.value("pipeline", std::int64_t{1});
  if (const auto global = arguments.integer({"global_batch_size"}, 1, largest_global)) {
    training["global_batch"] = *global;
  } else if (accumulation && gpus) {
    training["global_batch"] = micro * *accumulation * (*gpus / replica);
  }
  training["sequence"] = required(arguments, {"seq_length", "encoder_seq_length"}, widest);
  const bool fp8 = arguments.is_set({"fp8_e4m3", "fp8_hybrid"}) || arguments.text({"fp8", "fp8_format"}).has_value();
  const bool bf16 = arguments.is_set({"bf16"}), fp16 = arguments.is_set({"fp16"});
  training["precision"] = fp8 ? "fp8" : bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
  const std::string optimizer = arguments.text({"optimizer"}).value_or("adam");
  if (optimizer != "adam" && optimizer != "sgd" && optimizer != "lamb") {
    arguments.fail("optimizer", "the optimizer " + quoted(optimizer) + " is not simulated", "adam, sgd or lamb");
  }
  training["optimizer"] = optimizer;
  // The global batch is an argument of its own: more GPUs do not change it.
  if (training.contains("global_batch")) training["scaling"] = "strong";
  return training;
}

namespace {

void add_recompute(const ArgumentList& arguments, Json& plan) {
  std::string granularity = arguments.text({"recompute_granularity", "activations_checkpoint_granularity"}).value_or("");
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
                                         "activations_checkpoint_num_layers"}, 1, most_layers);
  if (method.value_or("uniform") == "block") {
    arguments.fail(arguments.has("recompute_method") ? "recompute_method" : "activations_checkpoint_method",
                   "recomputing some of a stage's layers (block) is not simulated",
                   "uniform is, which recomputes all of them");
  }
  if (layers.value_or(1) > 1) plan["recompute_every"] = *layers;
}

// Layers of stages that are not alike; empty when they are.
std::vector<std::int64_t> stage_layers(const ArgumentList& arguments, std::int64_t stages, std::int64_t interleave) {
  const std::int64_t layers = required(arguments, {"num_layers", "encoder_num_layers"}, most_layers);
  auto first = arguments.integer({"decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage"}, 0, layers);
  auto last = arguments.integer({"decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage"}, 0, layers);
  const std::int64_t embedding = arguments.is_set({"account_for_embedding_in_pipeline_split"}) ? 1 : 0;
  const std::int64_t loss = arguments.is_set({"account_for_loss_in_pipeline_split"}) ? 1 : 0;
  if (!first && !last && embedding + loss == 0) return {};
  const std::string name = first                ? "decoder_first_pipeline_num_layers"
                           : last               ? "decoder_last_pipeline_num_layers"
                           : embedding > 0 ? "account_for_embedding_in_pipeline_split"
                                           : "account_for_loss_in_pipeline_split";
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
      {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"}, 1, most_layers);
  const auto per_chunk = arguments.integer(of_layers, 1, most_layers);
  if (stated) return *stated;
  if (!per_chunk) return 1;
  const std::int64_t layers = required(arguments, {"num_layers", "encoder_num_layers"}, most_layers);
  if (layers % (stages * *per_chunk) != 0) {
    arguments.fail(of_layers.front(),
                   fmt::format("{} layers do not deal out to {} stages by {}", layers, stages, *per_chunk));
  }
  return layers / (stages * *per_chunk);
}

std::string sharding_of(const ArgumentList& arguments) {
  if (const auto stage = arguments.integer({"zero_stage"}, 0, 3)) return *stage == 0 ? "none" : fmt::format("zero{}", *stage);
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

namespace {

bool is_deepspeed(const ArgumentList& arguments) {
  const bool stage = arguments.integer({"zero_stage"}, 0, 3).value_or(0) > 0;
  const bool configured = arguments.text({"deepspeed_config"}).has_value();
  return arguments.is_set({"deepspeed"}) || stage || (configured && !arguments.from_log());
}

// Arguments that came with Megatron-Core's times (Megatron-LM from the end of 2022 on).
bool is_core(const ArgumentList& arguments) {
  for (const char* name : {"transformer_impl", "use_mcore_models", "use_legacy_models", "overlap_grad_reduce",
                           "overlap_param_gather", "use_flash_attn", "swiglu", "group_query_attention", "tp_comm_overlap",
                           "untie_embeddings_and_output_weights", "normalization", "attention_backend", "ckpt_format"}) {
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
      state(arguments, {"overlap_p2p_comm"}, {"no_overlap_p2p_communication"}).value_or(!arguments.from_log());
  if (chunks > 1 && overlapping) options["pipeline_overlap"] = 1;
  // In bf16 gradients are summed up in four bytes unless that is turned off.
  const bool four = arguments.flag({"accumulate_allreduce_grads_in_fp32"}).value_or(false) ||
                    (!arguments.from_log() && arguments.is_set({"bf16"}) && !arguments.is_set({"grad_reduce_in_bf16"}));
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
  if (!state(arguments, {"gradient_accumulation_fusion"}, {"no_gradient_accumulation_fusion"}).value_or(true)) {
    options["fused_gradient_sum"] = 0;
  }
  if (arguments.number({"clip_grad"}).value_or(1) == 0) options["gradient_norm"] = 0;
  constexpr std::int64_t usual_multiple = 128;
  const auto multiple = arguments.integer({"make_vocab_size_divisible_by"}, 1, most_ranks);
  if (name == "deepspeed" || multiple.value_or(usual_multiple) != usual_multiple) {
    options["vocabulary_multiple"] = multiple.value_or(usual_multiple);
  }
  if (!state(arguments, {"scatter_gather_tensors_in_pipeline"}, {"no_scatter_gather_tensors_in_pipeline"}).value_or(true)) {
    options["scatter_gather_transfers"] = 0;
  }
  Json stack = {{"name", name}};
  if (!options.empty()) stack["options"] = options;
  return stack;
}

}  // namespace foretrain::scenarios
