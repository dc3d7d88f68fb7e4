// Hugging Face configurations, written afresh after the families' classes: sizes, counts, what is refused.
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "models/huggingface.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using Catch::Matchers::Contains;

namespace {

// A configuration with some entries in place of, or beside, those of `base`; an empty value leaves the key out.
std::string config(std::map<std::string, std::string> base, const std::map<std::string, std::string>& changes = {}) {
  for (const auto& [key, value] : changes) base[key] = value;
  std::string text;
  for (const auto& [key, value] : base) {
    if (!value.empty()) text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", key, value);
  }
  return "{" + text + "}";
}

const std::map<std::string, std::string> llama2_7b = {
    {"model_type", "\"llama\""},      {"architectures", "[\"LlamaForCausalLM\"]"},
    {"hidden_size", "4096"},          {"intermediate_size", "11008"},
    {"num_hidden_layers", "32"},      {"num_attention_heads", "32"},
    {"num_key_value_heads", "32"},    {"max_position_embeddings", "4096"},
    {"vocab_size", "32000"},          {"rope_scaling", "null"},
    {"tie_word_embeddings", "false"}, {"rms_norm_eps", "1e-05"}};
const std::map<std::string, std::string> gpt2 = {
    {"model_type", "\"gpt2\""}, {"n_layer", "12"},       {"n_embd", "768"},       {"n_head", "12"},
    {"n_inner", "null"},        {"n_positions", "1024"}, {"vocab_size", "50257"}, {"resid_pdrop", "0.1"}};
const std::map<std::string, std::string> bert_large = {
    {"hidden_size", "1024"},       {"num_hidden_layers", "24"},        {"num_attention_heads", "16"},
    {"intermediate_size", "4096"}, {"max_position_embeddings", "512"}, {"vocab_size", "30522"},
    {"type_vocab_size", "2"}};
const std::map<std::string, std::string> opt_66b = {
    {"model_type", "\"opt\""},       {"hidden_size", "9216"}, {"num_hidden_layers", "64"},
    {"num_attention_heads", "72"},   {"ffn_dim", "36864"},    {"max_position_embeddings", "2048"},
    {"word_embed_proj_dim", "9216"}, {"vocab_size", "50272"}, {"activation_function", "\"relu\""}};
const std::map<std::string, std::string> bloom = {{"model_type", "\"bloom\""},
                                                  {"n_layer", "70"},
                                                  {"hidden_size", "14336"},
                                                  {"n_head", "112"},
                                                  {"vocab_size", "250880"}};
const std::map<std::string, std::string> t5_11b = {{"model_type", "\"t5\""}, {"d_model", "1024"},  {"d_kv", "128"},
                                                   {"d_ff", "65536"},        {"num_heads", "128"}, {"num_layers", "24"},
                                                   {"vocab_size", "32128"}};
const std::map<std::string, std::string> bart_large = {{"model_type", "\"bart\""},
                                                       {"d_model", "1024"},
                                                       {"encoder_layers", "12"},
                                                       {"decoder_layers", "12"},
                                                       {"encoder_ffn_dim", "4096"},
                                                       {"decoder_ffn_dim", "4096"},
                                                       {"encoder_attention_heads", "16"},
                                                       {"decoder_attention_heads", "16"},
                                                       {"max_position_embeddings", "1024"},
                                                       {"vocab_size", "50265"}};

HuggingFaceModel read(const std::string& text) { return read_huggingface(text, "config.json"); }

ModelSource source_of(const std::string& text) {
  ModelSource source;
  source.kind = ModelSource::Kind::huggingface;
  source.name = "config.json";
  source.operators_text = text;
  source.where = "scenario.json: /model";
  return source;
}

Model build(const std::string& text, std::int64_t sequence = 0) {
  return build_model(source_of(text), {1, sequence}, DataStore());
}

Error refused(const std::string& text) {
  return test::thrown([&text] { (void)read(text); });
}

}  // namespace

TEST_CASE("the parameters of Hugging Face's checkpoints follow from their configurations") {
  // Released checkpoints; those of hf_models.csv to its digits, the others as the zoo has them.
  CHECK(parameter_count(build(config(llama2_7b))) == 6'738'415'616);
  CHECK(parameter_count(build(config(gpt2))) == 124'439'808);
  CHECK(parameter_count(build(config(opt_66b))) == parameter_count(test::zoo_model("opt-66b")));
  CHECK(parameter_count(build(config(bloom))) == 176'247'271'424);
  CHECK(parameter_count(build(config(t5_11b))) == 11'307'321'344);
  // BART large: two tables of 1026 positions, 406,291,456 in all.
  CHECK(parameter_count(build(config(bart_large))) == 406'291'456);

  const auto llama = [](const std::map<std::string, std::string>& changes) {
    return parameter_count(build(config(llama2_7b, changes)));
  };
  CHECK(llama({{"hidden_size", "5120"},
               {"intermediate_size", "13824"},
               {"num_hidden_layers", "40"},
               {"num_attention_heads", "40"},
               {"num_key_value_heads", "null"}}) == 13'015'864'320);
  CHECK(llama({{"hidden_size", "8192"},
               {"intermediate_size", "28672"},
               {"num_hidden_layers", "80"},
               {"num_attention_heads", "64"},
               {"num_key_value_heads", "8"}}) == 68'976'648'192);
  CHECK(llama({{"model_type", "\"mistral\""},
               {"intermediate_size", "14336"},
               {"num_key_value_heads", "8"},
               {"sliding_window", "4096"}}) == 7'241'732'096);
  CHECK(llama({{"model_type", "\"qwen2\""},
               {"hidden_size", "3584"},
               {"intermediate_size", "18944"},
               {"num_hidden_layers", "28"},
               {"num_attention_heads", "28"},
               {"num_key_value_heads", "4"},
               {"vocab_size", "152064"}}) == 7'615'616'512);
  CHECK(llama({{"model_type", "\"qwen3\""},
               {"intermediate_size", "12288"},
               {"num_hidden_layers", "36"},
               {"num_key_value_heads", "8"},
               {"head_dim", "128"},
               {"vocab_size", "151936"}}) == 8'190'735'360);
}

TEST_CASE("BERT's heads follow the class") {
  const auto count = [](const std::map<std::string, std::string>& changes) {
    return parameter_count(build(config(bert_large, changes)));
  };
  CHECK(count({{"architectures", "[\"BertModel\"]"}}) == 335'141'888);
  CHECK(count({{"architectures", "[\"BertForPreTraining\"]"}}) == 336'226'108);
  // Masked words alone: no pooler of 1024² + 1024, no next sentence of 2·1024 + 2. A file without class is taken so.
  CHECK(count({{"architectures", "[\"BertForMaskedLM\"]"}}) == 336'226'108 - 1'049'600 - 2'050);
  CHECK(count({}) == count({{"architectures", "[\"BertForMaskedLM\"]"}}));
  const std::map<std::string, std::string> classifier = {{"architectures", "[\"BertForSequenceClassification\"]"},
                                                         {"id2label", R"({"0": "a", "1": "b", "2": "c"})"}};
  CHECK(count(classifier) == 335'141'888 + 3 * 1025);
  CHECK(read(config(bert_large, {{"model_type", "\"roberta\""}, {"max_position_embeddings", "514"}})).sequence == 512);
}

TEST_CASE("an image model has its image and no sequence") {
  const std::string text = config({{"model_type", "\"vit\""},
                                   {"hidden_size", "768"},
                                   {"num_hidden_layers", "12"},
                                   {"num_attention_heads", "12"},
                                   {"intermediate_size", "3072"},
                                   {"image_size", "224"},
                                   {"patch_size", "16"},
                                   {"num_labels", "1000"}});
  const Model model = build(text);
  CHECK(parameter_count(model) == 86'567'656);  // ViT-B/16
  CHECK(read(text).sequence == 0);
  CHECK(read(text).builder == "vision-transformer");
  CHECK_THAT(test::thrown([&] { (void)build(text, 128); }).what(), Contains("no sequence length"));
}

TEST_CASE("files without model_type are told by their class or by a key that only one family has") {
  CHECK(read(config(gpt2, {{"model_type", ""}})).builder == "decoder");
  CHECK(read(config(t5_11b, {{"model_type", ""}})).builder == "t5");
  CHECK(read(config(bert_large)).builder == "encoder");
  CHECK(read(config(llama2_7b, {{"model_type", ""}})).sizes.at("gated_feed_forward") == 1);
  const Error error = refused(R"({"architectures": ["MambaForCausalLM"], "hidden_size": 768})");
  CHECK_THAT(error.what(), Contains("does not say which family") && Contains("MambaForCausalLM"));
  CHECK_THAT(error.hint(), Contains("llama"));
}

TEST_CASE("heads may be wider or narrower than their share of the hidden size, and tables tied or not") {
  const HuggingFaceModel narrow = read(config(llama2_7b, {{"head_dim", "64"}}));
  CHECK(narrow.sizes.at("head_dimension") == 64);
  CHECK(read(config(t5_11b)).sizes.at("head_dimension") == 128);  // 128 heads of 128 on a width of 1024
  CHECK(read(config(llama2_7b, {{"tie_word_embeddings", ""}})).sizes.at("tied_embeddings") == 0);
  CHECK(read(config(gpt2)).sizes.at("tied_embeddings") == 1);
  CHECK(read(config(t5_11b)).sizes.at("tied_embeddings") == 1);
  CHECK(read(config(t5_11b, {{"model_type", "\"mt5\""}})).sizes.at("tied_embeddings") == 0);
  CHECK(read(config(t5_11b, {{"model_type", "\"mt5\""}})).sizes.at("gated_feed_forward") == 1);
}

TEST_CASE("a null is a key left out, and the word in a name is not") {
  CHECK(read(config(gpt2)).sizes.at("feed_forward") == 4 * 768);
  CHECK(read(config(gpt2, {{"n_inner", "2048"}, {"_name_or_path", R"("a \"null\" thing")"}})).name ==
        "a \"null\" thing");
  CHECK(read(config(llama2_7b, {{"num_key_value_heads", "null"}})).sizes.at("key_value_heads") == 0);
  const Error error = refused(config(gpt2, {{"n_layer", "null"}}));
  CHECK_THAT(error.what(), Contains("\"n_layer\" is missing"));
}

TEST_CASE("a language model inside a file for images and text is read, and what is left out is said") {
  const std::string text =
      R"({"model_type": "llava", "vision_config": {"hidden_size": 1024}, "text_config": )" + config(llama2_7b) + "}";
  CHECK(parameter_count(build(text)) == 6'738'415'616);
  CHECK(read(text).left_out == "vision_config");
  CHECK_THAT(build(text).source, Contains("without vision_config"));
  const Error error =
      refused(R"({"vision_config": {}, "text_config": )" + config(llama2_7b, {{"vocab_size", "-1"}}) + "}");
  CHECK(error.where() == "config.json: /text_config/vocab_size");
}

TEST_CASE("mixtures of experts and latent attention are refused by the keys that say so") {
  const Error mixture = refused(config(llama2_7b, {{"model_type", "\"mixtral\""}, {"num_local_experts", "8"}}));
  CHECK_THAT(mixture.what(), Contains("mixture of experts (num_local_experts)"));
  CHECK(mixture.where() == "config.json: /num_local_experts");
  for (const char* key : {"num_experts", "n_routed_experts", "num_routed_experts"}) {
    CHECK_THAT(refused(config(llama2_7b, {{key, "64"}})).what(), Contains(key));
  }
  CHECK_THAT(refused(config(llama2_7b, {{"kv_lora_rank", "512"}, {"q_lora_rank", "null"}})).what(),
             Contains("latent attention (kv_lora_rank)"));
  CHECK(read(config(llama2_7b, {{"num_experts", "null"}})).builder == "decoder");
}

TEST_CASE("what is unknown, missing or out of range is one error with its place and what was expected") {
  const Error family = refused(config(llama2_7b, {{"model_type", "\"lama\""}}));
  CHECK(family.where() == "config.json: /model_type");
  CHECK_THAT(family.hint(), Contains("did you mean \"llama\"?") && Contains("bloom"));

  const Error missing = refused(config(llama2_7b, {{"num_hidden_layers", ""}, {"num_hiden_layers", "32"}}));
  CHECK_THAT(missing.what(), Contains("\"num_hidden_layers\" is missing"));
  CHECK_THAT(missing.hint(), Contains("did you mean \"num_hiden_layers\"?") && Contains("intermediate_size"));

  const auto place = [](const std::string& key, const std::string& value) {
    return refused(config(llama2_7b, {{key, value}})).where();
  };
  CHECK(place("num_hidden_layers", "0") == "config.json: /num_hidden_layers");
  CHECK(place("num_hidden_layers", "1e12") == "config.json: /num_hidden_layers");
  CHECK(place("hidden_size", "4096.5") == "config.json: /hidden_size");
  CHECK(place("vocab_size", "\"many\"") == "config.json: /vocab_size");
  CHECK(place("num_attention_heads", "31") == "config.json: /num_attention_heads");
  CHECK(place("num_key_value_heads", "5") == "config.json: /num_key_value_heads");
  CHECK(place("tie_word_embeddings", "1") == "config.json: /tie_word_embeddings");
  CHECK_THAT(refused("[1]").what(), Contains("expected an object"));
  CHECK_THAT(refused(config(opt_66b, {{"word_embed_proj_dim", "512"}})).what(), Contains("another width"));
  CHECK_THAT(refused(config(opt_66b, {{"do_layer_norm_before", "false"}})).what(), Contains("norms behind"));
  CHECK_THAT(refused(config(bart_large, {{"decoder_ffn_dim", "2048"}})).what(), Contains("as the encoder's"));
}

TEST_CASE("sequence and sizes may be chosen as for a zoo entry") {
  CHECK(build(config(llama2_7b)).sequence == 4096);
  CHECK(build(config(llama2_7b), 2048).sequence == 2048);
  CHECK_THAT(test::thrown([] { (void)build(config(gpt2), 2048); }).what(), Contains("1024 learned positions"));
  ModelSource fewer = source_of(config(llama2_7b));
  fewer.overrides = {{"layers", 4}};
  CHECK(build_model(fewer, {1, 0}, DataStore()).layers.size() == 6);
  fewer.overrides = {{"layer", 4}};
  const Error error = test::thrown([&] { (void)build_model(fewer, {1, 0}, DataStore()); });
  CHECK(error.where() == "scenario.json: /model/layer");
}
