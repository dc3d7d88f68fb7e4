#include "scenarios/model_reader.h"

#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "models/model.h"
#include "scenarios/fields.h"
#include "scenarios/key_hints.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_model_file = std::size_t{4} << 20;
const char* const how_to_name_a_model =
    "for instance {\"zoo\": \"crnn-handwriting\"}; `foretrain list models` has the names";

std::vector<const FieldInfo*> rows_of(const std::string& variant) {
  std::vector<const FieldInfo*> rows;
  for (const auto& field : scenario_fields()) {
    if (section_of(field.path) == "model" && (variant.empty() || field.variant == variant)) rows.push_back(&field);
  }
  return rows;
}

// "zoo", "huggingface", "operators" or "parameters".
std::string variant_of(const Document& document) {
  const auto model = document.find("model");
  if (!model) document.fail("", "the key \"model\" is missing", how_to_name_a_model);
  std::string variant;
  for (const FieldInfo* row : rows_of("")) {
    const bool names_variant = key_of(row->path) == row->variant;
    if (!names_variant || !model->find(row->variant)) continue;
    if (!variant.empty()) {
      document.fail(row->path, "the model is given twice, by " + quoted(variant) + " and by " + quoted(row->variant),
                    "keep one of them");
    }
    variant = row->variant;
  }
  if (!variant.empty()) return variant;
  for (const std::string& key : model->keys()) {
    model->at(key).fail("unknown key " + quoted(key) + " in a model without \"zoo\", \"operators\" or \"parameters\"",
                        key_hint(key, rows_of("")));
  }
  model->fail("says no model", how_to_name_a_model);
}

void check_keys(const JsonView& model, const std::string& variant) {
  const std::vector<const FieldInfo*> rows = rows_of(variant);
  for (const std::string& key : model.keys()) {
    bool known = false;
    for (const FieldInfo* row : rows) known = known || key_of(row->path) == key;
    if (!known) model.at(key).fail("unknown key " + quoted(key) + " beside " + quoted(variant), key_hint(key, rows));
  }
}

}  // namespace

ZooFacts zoo_facts(const JsonView& name, const DataStore& data) {
  models::ModelSource source;
  source.name = name.string();
  source.where = name.where();
  const models::Model model = models::build_model(source, {}, data);  // throws for an unknown name
  return {models::zoo_sizes(source.name, data), model.sequence > 0};
}

void ModelReader::read_zoo_entry(const Document& document, sim::Scenario& scenario) {
  const JsonView zoo = *document.find("model.zoo");
  auto known = zoo_.find(zoo.string());
  if (known == zoo_.end()) known = zoo_.emplace(zoo.string(), zoo_facts(zoo, catalogue_.data())).first;
  const ZooFacts& facts = known->second;
  std::vector<std::string> names;
  for (const auto& [size, value] : facts.sizes) names.push_back(size);
  for (const std::string& key : document.find("model")->keys()) {
    if (key == "zoo") continue;
    if (facts.sizes.find(key) == facts.sizes.end()) {
      document.fail("model." + key, "the model " + quoted(zoo.string()) + " has no size " + quoted(key),
                    name_hint(key, names));
    }
    scenario.model.overrides[key] = document.find("model." + key)->number(find_field("model.*")->range);
  }
  if (scenario.training.sequence > 0 && !facts.takes_sequence) {
    document.fail("training.sequence", "the model " + quoted(zoo.string()) + " has no sequence length",
                  "leave it out; sizes of an image are sizes of the model");
  }
}

const std::string& ModelReader::text_of(const Document& document, const std::string& key, const std::string& name) {
  auto known = texts_.find(name);
  if (known == texts_.end()) {
    const std::string path = (std::filesystem::path(directory_) / name).string();
    if (name == "-") document.fail(key, "a model's file cannot be read from stdin");
    known = texts_.emplace(name, read_file(path, longest_model_file)).first;
  }
  return known->second;
}

// Sizes that configurations do not have are refused where the model is built.
void ModelReader::read_configuration(const Document& document, sim::Scenario& scenario) {
  scenario.model.operators_text = text_of(document, "model.huggingface", scenario.model.name);
  for (const std::string& key : document.find("model")->keys()) {
    if (key == "huggingface") continue;
    scenario.model.overrides[key] = document.find("model." + key)->number(find_field("model.*")->range);
  }
}

void ModelReader::read(const Document& document, sim::Scenario& scenario) {
  const std::string variant = variant_of(document);
  const bool has_sizes = variant == "zoo" || variant == "huggingface";
  if (!has_sizes) check_keys(*document.find("model"), variant);
  for (const auto& field : scenario_fields()) {
    if (section_of(field.path) != "model" || field.variant != variant || !field.read) continue;
    if (const auto value = document.find(field.path)) field.read(*value, scenario);
  }
  scenario.model.where = document.where("model");  // models/ appends the size it is about
  if (variant == "zoo") read_zoo_entry(document, scenario);
  if (variant == "huggingface") read_configuration(document, scenario);
  if (variant == "operators") {
    scenario.model.operators_text = text_of(document, "model.operators", scenario.model.name);
  }
}

}  // namespace foretrain::scenarios
