#include "models/huggingface.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "models/huggingface_config.h"
#include "models/huggingface_families.h"
#include "models/sizes.h"
#include "models/zoo.h"

namespace foretrain::models {
namespace {

// What a file's own words say of its family: "model_type", else the class's name, else a key that only one has.
std::optional<std::string> stated_type(const JsonView& view) {
  return has_value(view, "model_type") ? std::optional(view.at("model_type").string()) : std::nullopt;
}

std::string architecture_of(const JsonView& view) {
  if (!has_value(view, "architectures")) return "";
  return view.at("architectures").items().front().string();
}

std::vector<std::string> known_types() {
  std::vector<std::string> types;
  for (const HuggingFaceFamily& family : huggingface_families()) {
    types.insert(types.end(), family.model_types.begin(), family.model_types.end());
  }
  return types;
}

// "LlamaForCausalLM" begins with "llama", "GPTNeoXForCausalLM" with "gpt_neox" but for the mark between its words.
bool begins_with(const std::string& architecture, const std::string& type) {
  std::string plain;
  for (const char c : type) {
    if (c != '_' && c != '-') plain += c;
  }
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return architecture.size() >= plain.size() &&
         std::equal(plain.begin(), plain.end(), architecture.begin(), [&same](char b, char a) { return same(a, b); });
}

std::string inferred_type(const JsonView& view) {
  const std::string architecture = architecture_of(view);
  std::string longest;
  for (const std::string& type : known_types()) {
    if (begins_with(architecture, type) && type.size() > longest.size()) longest = type;
  }
  if (!longest.empty()) return longest;
  for (const HuggingFaceFamily& family : huggingface_families()) {
    if (architecture.empty() && has_value(view, family.telling_key)) return family.model_types.front();
  }
  std::string what = "the file does not say which family it is of: the key \"model_type\" is missing";
  if (!architecture.empty()) what += fmt::format(", and the class {} is not known", quoted(architecture));
  view.fail(what, "one of: " + joined(known_types()));
}

// Files of models for images and text keep the language model's sizes in an object of their own.
struct Nested {
  JsonView view;
  std::string left_out;
};

Nested language_model(const JsonView& file) {
  Nested nested{file, ""};
  for (const char* key : {"thinker_config", "llm_config", "language_config", "text_config"}) {
    const auto inner = nested.view.find(key);
    if (!inner || !inner->is_object() || inner->keys().empty()) continue;
    for (const char* other : {"vision_config", "audio_config", "vit_config"}) {
      if (!has_value(nested.view, other)) continue;
      nested.left_out += (nested.left_out.empty() ? "" : ", ") + std::string(other);
    }
    nested.view = *inner;
  }
  return nested;
}

void refuse_what_is_not_simulated(const JsonView& view) {
  std::vector<std::string> experts, latent;
  for (const std::string& key : view.keys()) {
    const bool counts = key == "num_local_experts" || key == "num_experts" || key == "n_routed_experts" ||
                        key == "num_routed_experts" || key == "moe_num_experts";
    const auto value = view.at(key);
    if (counts && !(value.is_number() && value.number() <= 1) && has_value(view, key)) experts.push_back(key);
    if ((key == "kv_lora_rank" || key == "q_lora_rank") && has_value(view, key)) latent.push_back(key);
  }
  const std::string hint = "give parameters, layers and FLOPs of a step instead, with a measured step if there is one";
  if (!experts.empty()) {
    view.at(experts.front())
        .fail(fmt::format("this is a mixture of experts ({}), which this version does not simulate", joined(experts)),
              hint);
  }
  if (!latent.empty()) {
    view.at(latent.front())
        .fail(fmt::format("this model has multi-head latent attention ({}), which this version does not simulate",
                          joined(latent)),
              hint);
  }
}

const HuggingFaceFamily& family_of(const JsonView& view, const std::string& type) {
  for (const HuggingFaceFamily& family : huggingface_families()) {
    if (std::count(family.model_types.begin(), family.model_types.end(), type) > 0) return family;
  }
  std::string hint = "known are " + joined(known_types());
  if (const auto near = nearest(type, known_types())) hint = fmt::format("did you mean {}? {}", quoted(*near), hint);
  view.at("model_type").fail(fmt::format("models of the family {} are not known", quoted(type)), hint);
}

}  // namespace

HuggingFaceModel read_huggingface(const std::string& text, const std::string& where) {
  const Json json = parse_json(without_nulls(text), where);
  const JsonView file(json, where);
  const Nested nested = language_model(file);
  const JsonView& view = nested.view;
  refuse_what_is_not_simulated(view);
  const std::string type = stated_type(view).value_or("");
  const std::string known_type = type.empty() ? inferred_type(view) : type;
  const HuggingFaceFamily& family = family_of(view, known_type);

  HuggingFaceModel model;
  model.left_out = nested.left_out;
  model.architecture = architecture_of(view);
  if (model.architecture.empty()) model.architecture = architecture_of(file);
  if (model.architecture.empty()) model.architecture = known_type;
  model.name = has_value(file, "_name_or_path") ? file.at("_name_or_path").string() : "";
  if (model.name.empty()) model.name = known_type;
  family.read(HuggingFaceConfig(view, known_type, family.expected), model);
  return model;
}

Model build_huggingface_model(const ModelSource& source, const BatchShape& batch) {
  const HuggingFaceModel read = read_huggingface(source.operators_text, source.name);
  const Json sizes = read.sizes;
  Model model;
  model.name = read.name;
  model.micro_batch = batch.micro_batch;
  model.sequence = batch.sequence;
  model.source = fmt::format("{} ({}){}", printable(source.name), printable(read.architecture),
                             read.left_out.empty() ? "" : ", its language model alone, without " + read.left_out);
  build_by(read.builder, Sizes(JsonView(sizes, source.name), source.overrides, source.where), model);
  return model;
}

}  // namespace foretrain::models
