// Names and defaults are those of the configuration classes of Hugging Face transformers (LlamaConfig, GPT2Config).
#include "models/huggingface_families.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

using Config = HuggingFaceConfig;
using Sizes = std::map<std::string, double>;

constexpr double default_dropout = 0.1;  // of the classes that do not say 0 below

double real(std::int64_t count) { return static_cast<double>(count); }

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

void set_width(const Config& config, Sizes& sizes, const std::string& hidden_key, const ConfigKeys& heads_keys,
               bool own_head_dimension) {
  const std::int64_t hidden = config.size({hidden_key}, widest_hidden);
  const std::int64_t heads = config.size(heads_keys, most_heads);
  if (!own_head_dimension && hidden % heads != 0) {
    config.fail(heads_keys.front(), fmt::format("a hidden size of {} does not divide into {} heads", hidden, heads));
  }
  sizes["hidden"] = real(hidden);
  sizes["heads"] = real(heads);
}

// What all decoders have beside layers, width and heads; with GPT-2's answers to the yes-or-no sizes.
void start_decoder(const Config& config, HuggingFaceModel& model, const ConfigKeys& layers, bool tied,
                   std::int64_t sequence) {
  model.builder = "decoder";
  model.sequence = sequence;
  model.sizes = {{"key_value_heads", 0},        {"head_dimension", 0}, {"gated_feed_forward", 0}, {"biases", 1},
                 {"query_key_value_biases", 1}, {"rms_norm", 0},       {"learned_positions", 0},  {"relu", 0},
                 {"rotary_positions", 0},       {"embedding_norm", 0}, {"query_key_norms", 0}};
  model.sizes["layers"] = real(config.size(layers, most_layers));
  model.sizes["vocabulary"] = real(config.size({"vocab_size"}, largest_vocabulary));
  model.sizes["tied_embeddings"] = config.flag_or("tie_word_embeddings", tied) ? 1 : 0;
  model.sizes["sequence"] = model.sizes["positions"] = real(sequence);
}

std::int64_t positions(const Config& config) { return config.size({"max_position_embeddings"}, longest_sequence); }

// Llama and its relatives: RMS norms, a gated feed-forward network, rotary positions, grouped queries.
void read_llama(const Config& config, HuggingFaceModel& model) {
  const std::string& type = config.family();
  const bool gemma = type == "gemma", qwen2 = type == "qwen2", qwen3 = type == "qwen3";
  start_decoder(config, model, {"num_hidden_layers"}, gemma, positions(config));
  Sizes& sizes = model.sizes;
  constexpr std::int64_t of_qwen3 = 128, of_gemma = 256;  // their classes' default
  const std::int64_t dimension = config.size_or({"head_dim"}, qwen3 ? of_qwen3 : gemma ? of_gemma : 0, most_heads);
  set_width(config, sizes, "hidden_size", {"num_attention_heads"}, dimension > 0);
  sizes["head_dimension"] = real(dimension);
  const std::int64_t key_value_heads = config.size_or({"num_key_value_heads"}, 0, most_heads);
  if (key_value_heads > 0 && static_cast<std::int64_t>(sizes["heads"]) % key_value_heads != 0) {
    config.fail("num_key_value_heads",
                fmt::format("{} heads do not divide into {} key-value heads", sizes["heads"], key_value_heads));
  }
  sizes["key_value_heads"] = real(key_value_heads);
  sizes["feed_forward"] = real(config.size({"intermediate_size"}, widest_feed_forward));
  sizes["gated_feed_forward"] = sizes["rms_norm"] = sizes["rotary_positions"] = 1;
  sizes["biases"] = config.flag_or("mlp_bias", false) ? 1 : 0;
  sizes["query_key_value_biases"] = config.flag_or("attention_bias", qwen2) ? 1 : 0;
  sizes["query_key_norms"] = qwen3 ? 1 : 0;
  sizes["dropout"] = config.dropout({"attention_dropout"}, 0) ? 1 : 0;
}

void read_gpt2(const Config& config, HuggingFaceModel& model) {
  start_decoder(config, model, {"n_layer"}, true, config.size({"n_positions", "n_ctx"}, longest_sequence));
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "n_embd", {"n_head"}, false);
  sizes["feed_forward"] =
      real(config.size_or({"n_inner"}, 4 * static_cast<std::int64_t>(sizes["hidden"]), widest_feed_forward));
  sizes["learned_positions"] = 1;
  sizes["relu"] = config.word_or("activation_function", "gelu_new") == "relu" ? 1 : 0;
  sizes["dropout"] = config.dropout({"resid_pdrop", "embd_pdrop", "attn_pdrop"}, default_dropout) ? 1 : 0;
}

void read_gpt_neox(const Config& config, HuggingFaceModel& model) {
  start_decoder(config, model, {"num_hidden_layers"}, false, positions(config));
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "hidden_size", {"num_attention_heads"}, false);
  sizes["feed_forward"] = real(config.size({"intermediate_size"}, widest_feed_forward));
  sizes["rotary_positions"] = 1;
  sizes["query_key_value_biases"] = config.flag_or("attention_bias", true) ? 1 : 0;
  sizes["dropout"] = config.dropout({"hidden_dropout", "attention_dropout"}, 0) ? 1 : 0;
}

void read_opt(const Config& config, HuggingFaceModel& model) {
  constexpr std::int64_t unused_positions = 2;  // in front of the first
  start_decoder(config, model, {"num_hidden_layers"}, true, positions(config));
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "hidden_size", {"num_attention_heads"}, false);
  const auto hidden = static_cast<std::int64_t>(sizes["hidden"]);
  if (config.size_or({"word_embed_proj_dim"}, hidden, widest_hidden) != hidden) {
    config.fail("word_embed_proj_dim", "embeddings of another width than the layers are not built",
                fmt::format("{} is the layers' width", hidden));
  }
  if (!config.flag_or("do_layer_norm_before", true)) {
    config.fail("do_layer_norm_before", "decoders with norms behind attention and feed-forward network are not built");
  }
  sizes["feed_forward"] = real(config.size({"ffn_dim"}, widest_feed_forward));
  sizes["positions"] = real(model.sequence + unused_positions);
  sizes["learned_positions"] = 1;
  sizes["relu"] = config.word_or("activation_function", "relu") == "relu" ? 1 : 0;
  sizes["biases"] = sizes["query_key_value_biases"] = config.flag_or("enable_bias", true) ? 1 : 0;
  sizes["dropout"] = config.dropout({"attention_dropout"}, 0) || config.dropout({"dropout"}, default_dropout) ? 1 : 0;
}

void read_bloom(const Config& config, HuggingFaceModel& model) {
  constexpr std::int64_t trained_on = 2048;  // tokens; biases by distance have no limit
  start_decoder(config, model, {"n_layer", "num_hidden_layers"}, true,
                config.size_or({"seq_length"}, trained_on, longest_sequence));
  Sizes& sizes = model.sizes;
  set_width(config, sizes, config.has("n_embed") ? "n_embed" : "hidden_size", {"n_head", "num_attention_heads"}, false);
  sizes["feed_forward"] = 4 * sizes["hidden"];  // fixed
  sizes["embedding_norm"] = 1;
  sizes["dropout"] = config.dropout({"hidden_dropout", "attention_dropout"}, 0) ? 1 : 0;
}

// Heads follow the class: of pre-training, of masked words alone, a classifier; without a class that of pre-training
// by masked words.
void read_bert(const Config& config, HuggingFaceModel& model) {
  const bool roberta = config.family() != "bert";
  constexpr std::int64_t unused_positions = 2;  // RoBERTa numbers tokens from the padding's index on
  const std::int64_t rows = positions(config);
  model.builder = "encoder";
  model.sequence = roberta ? std::max<std::int64_t>(1, rows - unused_positions) : rows;
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "hidden_size", {"num_attention_heads"}, false);
  sizes["layers"] = real(config.size({"num_hidden_layers"}, most_layers));
  sizes["feed_forward"] = real(config.size({"intermediate_size"}, widest_feed_forward));
  sizes["vocabulary"] = real(config.size({"vocab_size"}, largest_vocabulary));
  sizes["token_types"] = real(config.size_or({"type_vocab_size"}, 2, 1024));
  sizes["positions"] = real(rows);
  sizes["sequence"] = real(model.sequence);
  sizes["dropout"] = config.dropout({"hidden_dropout_prob", "attention_probs_dropout_prob"}, default_dropout) ? 1 : 0;
  sizes["embedding_width"] = sizes["shared_layers"] = sizes["predictions_per_sequence"] = 0;
  const auto is_for = [&model](const char* task) { return model.architecture.find(task) != std::string::npos; };
  const bool pretraining = is_for("ForPreTraining"), classifier = is_for("ForSequenceClassification");
  const bool bare = !pretraining && !classifier && model.architecture == (roberta ? "RobertaModel" : "BertModel");
  sizes["pooler"] = pretraining || classifier || bare ? 1 : 0;
  sizes["nsp_head"] = pretraining ? 1 : 0;
  sizes["mlm_head"] = !classifier && !bare ? 1 : 0;
  sizes["classes"] = classifier ? real(config.labels(largest_vocabulary)) : 0;
}

void read_vit(const Config& config, HuggingFaceModel& model) {
  model.builder = "vision-transformer";
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "hidden_size", {"num_attention_heads"}, false);
  sizes["layers"] = real(config.size({"num_hidden_layers"}, most_layers));
  sizes["feed_forward"] = real(config.size({"intermediate_size"}, widest_feed_forward));
  sizes["image"] = real(config.size({"image_size"}, 16384));
  sizes["patch"] = real(config.size({"patch_size"}, 4096));
  sizes["channels"] = real(config.size_or({"num_channels"}, 3, 4096));
  sizes["classes"] = real(config.labels(largest_vocabulary));
  sizes["class_token"] = 1;
  sizes["dropout"] = config.dropout({"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0) ? 1 : 0;
}

void read_t5(const Config& config, HuggingFaceModel& model) {
  const bool multilingual = config.family() == "mt5";
  model.builder = "t5";
  model.sequence = config.size_or({"n_positions"}, 512, longest_sequence);
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "d_model", {"num_heads"}, true);
  const std::int64_t layers = config.size({"num_layers"}, most_layers);
  sizes["layers"] = real(layers);
  sizes["decoder_layers"] = real(config.size_or({"num_decoder_layers"}, layers, most_layers));
  sizes["head_dimension"] = real(config.size({"d_kv"}, most_heads));
  sizes["feed_forward"] = real(config.size({"d_ff"}, widest_feed_forward));
  sizes["vocabulary"] = real(config.size({"vocab_size"}, largest_vocabulary));
  sizes["position_buckets"] = real(config.size_or({"relative_attention_num_buckets"}, 32, longest_sequence));
  const std::string projection = config.word_or("feed_forward_proj", multilingual ? "gated-gelu" : "relu");
  sizes["gated_feed_forward"] = starts_with(projection, "gated-") ? 1 : 0;
  sizes["tied_embeddings"] = config.flag_or("tie_word_embeddings", !multilingual) ? 1 : 0;
  sizes["dropout"] = config.dropout({"dropout_rate"}, default_dropout) ? 1 : 0;
  sizes["sequence"] = real(model.sequence);
  sizes["decoder_sequence"] = 0;
}

void read_bart(const Config& config, HuggingFaceModel& model) {
  constexpr std::int64_t unused_positions = 2;  // in front of the first
  model.builder = "encoder-decoder";
  model.sequence = positions(config);
  Sizes& sizes = model.sizes;
  set_width(config, sizes, "d_model", {"encoder_attention_heads"}, false);
  sizes["layers"] = real(config.size({"encoder_layers"}, most_layers));
  sizes["decoder_layers"] = real(config.size({"decoder_layers"}, most_layers));
  sizes["feed_forward"] = real(config.size({"encoder_ffn_dim"}, widest_feed_forward));
  const auto require_same = [&](const char* key, const char* size) {
    if (config.has(key) && real(config.size({key}, widest_feed_forward)) != sizes[size]) {
      config.fail(key, fmt::format("the decoder's layers are built as the encoder's, with {}", sizes[size]));
    }
  };
  require_same("decoder_ffn_dim", "feed_forward");
  require_same("decoder_attention_heads", "heads");
  if (config.flag_or("normalize_before", false)) {
    config.fail("normalize_before", "BART with norms in front of attention and feed-forward network is not built");
  }
  sizes["vocabulary"] = real(config.size({"vocab_size"}, largest_vocabulary));
  sizes["positions"] = real(model.sequence + unused_positions);
  sizes["sequence"] = real(model.sequence);
  sizes["gelu"] = config.word_or("activation_function", "gelu") == "relu" ? 0 : 1;
  sizes["embedding_norm"] = 1;
  sizes["dropout"] = config.dropout({"dropout"}, default_dropout) ? 1 : 0;
  sizes["label_smoothing"] = 0;
}

}  // namespace

const std::vector<HuggingFaceFamily>& huggingface_families() {
  static const std::vector<std::string> hidden_names = {"num_hidden_layers", "hidden_size", "num_attention_heads",
                                                        "intermediate_size", "vocab_size",  "max_position_embeddings"};
  static const std::vector<HuggingFaceFamily> all = {
      {{"llama", "mistral", "qwen2", "qwen3", "gemma", "phi3"}, "rms_norm_eps", hidden_names, read_llama},
      {{"gpt2"}, "n_embd", {"n_layer", "n_embd", "n_head", "n_positions", "vocab_size"}, read_gpt2},
      {{"gpt_neox"}, "rotary_pct", hidden_names, read_gpt_neox},
      {{"bert", "roberta", "xlm-roberta"}, "type_vocab_size", hidden_names, read_bert},
      {{"vit"},
       "patch_size",
       {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "image_size", "patch_size"},
       read_vit},
      {{"opt"},
       "ffn_dim",
       {"num_hidden_layers", "hidden_size", "num_attention_heads", "ffn_dim", "vocab_size", "max_position_embeddings"},
       read_opt},
      {{"bloom"}, "n_embed", {"n_layer", "hidden_size", "n_head", "vocab_size"}, read_bloom},
      {{"t5", "mt5"}, "d_kv", {"num_layers", "d_model", "d_kv", "d_ff", "num_heads", "vocab_size"}, read_t5},
      {{"bart"},
       "encoder_ffn_dim",
       {"encoder_layers", "decoder_layers", "d_model", "encoder_attention_heads", "encoder_ffn_dim", "vocab_size",
        "max_position_embeddings"},
       read_bart}};
  return all;
}

}  // namespace foretrain::models
