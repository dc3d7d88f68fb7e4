#include "scenarios/megatron_arguments.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

// Rows of the feed-forward network where none are stated: four times the hidden size; with SwiGLU two thirds of that,
// to a multiple of 64 (megatron/training/arguments.py).
std::int64_t usual_feed_forward(std::int64_t hidden, bool gated) {
  constexpr std::int64_t times = 4, multiple = 64;
  return gated ? times * hidden * 2 / 3 / multiple * multiple : times * hidden;
}

std::string positions_of(const ArgumentList& arguments) {
  if (arguments.is_set({"use_rotary_position_embeddings"})) return "rope";
  if (!switched(arguments, {"add_position_embedding"}, {"no_position_embedding"}).value_or(true)) {
    return arguments.text({"position_embedding_type"}).value_or("none") == "rope" ? "rope" : "none";
  }
  return arguments.text({"position_embedding_type"}).value_or("learned_absolute");
}

void add_vocabulary(const ArgumentList& arguments, Json& model, std::vector<std::string>& notes) {
  constexpr std::int64_t gpt2_vocabulary = 50257;  // Radford et al. 2019
  const auto padded = arguments.integer({"padded_vocab_size"}, 1, widest_megatron_size);
  const auto stated = arguments.integer({"vocab_size"}, 1, widest_megatron_size);
  const std::string tokenizer = arguments.text({"tokenizer_type"}).value_or("");
  if (padded || stated) {
    model["vocabulary"] = padded ? *padded : *stated;
  } else if (tokenizer == "GPT2BPETokenizer") {
    model["vocabulary"] = gpt2_vocabulary;
  } else {
    notes.emplace_back("the vocabulary's size is not stated: taken from the zoo entry (--set model.vocabulary=…)");
  }
}

}  // namespace

Json megatron_model(const ArgumentList& arguments, std::vector<std::string>& notes) {
  const std::int64_t hidden = required_argument(arguments, {"hidden_size"}, widest_megatron_size);
  const std::int64_t heads = required_argument(arguments, {"num_attention_heads"}, widest_megatron_size);
  const bool gated = arguments.is_set({"swiglu"});
  Json model = {{"zoo", "megatron-gpt"},
                {"layers", required_argument(arguments, {"num_layers", "encoder_num_layers"}, most_megatron_layers)},
                {"hidden", hidden},
                {"heads", heads}};
  if (arguments.is_set({"group_query_attention"})) {
    model["key_value_heads"] = required_argument(arguments, {"num_query_groups"}, widest_megatron_size);
  }
  const auto channels = arguments.integer({"kv_channels"}, 1, widest_megatron_size);
  if (channels && *channels * heads != hidden) model["head_dimension"] = *channels;
  model["feed_forward"] =
      arguments.integer({"ffn_hidden_size"}, 1, widest_megatron_size).value_or(usual_feed_forward(hidden, gated));
  if (gated) model["gated_feed_forward"] = 1;
  if (arguments.text({"normalization"}).value_or("LayerNorm") == "RMSNorm") model["rms_norm"] = 1;
  const std::string positions = positions_of(arguments);
  const auto table = arguments.integer({"max_position_embeddings"}, 1, widest_megatron_size);
  if (positions == "learned_absolute") {
    const std::vector<std::string> tokens = {"seq_length", "encoder_seq_length"};
    model["positions"] = table ? *table : required_argument(arguments, tokens, widest_megatron_size);
  } else {
    model["learned_positions"] = 0;
    if (positions == "rope") model["rotary_positions"] = 1;
  }
  if (!switched(arguments, {"add_bias_linear"}, {"disable_bias_linear"}).value_or(true)) {
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
  const std::int64_t micro = required_argument(arguments, {"micro_batch_size", "batch_size"}, most_samples);
  Json training = {{"micro_batch", micro}};
  const auto accumulation = arguments.integer({"gas", "gradient_accumulation_steps"}, 1, most_samples);
  const std::int64_t replica = plan.value("tensor", std::int64_t{1}) * plan.value("pipeline", std::int64_t{1});
  if (const auto global = arguments.integer({"global_batch_size"}, 1, largest_global)) {
    training["global_batch"] = *global;
  } else if (accumulation && gpus) {
    training["global_batch"] = micro * *accumulation * (*gpus / replica);
  }
  training["sequence"] = required_argument(arguments, {"seq_length", "encoder_seq_length"}, widest_megatron_size);
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

}  // namespace foretrain::scenarios
