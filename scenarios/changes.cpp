#include "scenarios/changes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "scenarios/fields.h"
#include "scenarios/key_hints.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t most_alternatives = 10000;
constexpr std::array<std::string_view, 4> model_variants = {"model.zoo", "model.huggingface", "model.operators",
                                                            "model.parameters"};

std::vector<std::string> settable_keys() {
  std::vector<std::string> keys;
  for (const auto& field : scenario_fields()) {
    if (field.settable && !field.numbers) keys.push_back(field.path);
  }
  return keys;
}

std::string settable_hint(const std::string& key) {
  for (const Section& section : sections()) {
    if (section.path == key) return fmt::format("dotted keys are meant, for instance \"cluster.gpus\": 8");
  }
  std::vector<const FieldInfo*> siblings;
  const std::string section = section_of(key);
  for (const auto& field : scenario_fields()) {
    if (!section.empty() && section_of(field.path) == section) siblings.push_back(&field);
  }
  return siblings.empty() ? name_hint(key, settable_keys()) : key_hint(key_of(key), siblings, section + ".");
}

bool says(const Document& document, std::string_view path, const std::string& value) {
  const auto old = document.find(path);
  return old && old->is_string() && old->string() == value;
}

bool same_machine(const Document& document, const JsonView& name, const calibrate::Catalogue& catalogue) {
  const auto old = document.find("cluster.machine");
  if (!old) return false;
  return catalogue.machine(old->string(), old->where()).name == catalogue.machine(name.string(), name.where()).name;
}

// Removes what belongs to the name that `change` is about to replace, and what says the same in another way.
void drop_belongings(Document& document, const Change& change, const calibrate::Catalogue& catalogue) {
  if (change.path == "cluster.machine" && !same_machine(document, change.value, catalogue)) {
    for (const auto& field : scenario_fields()) {
      if (field.of_machine) document.erase(field.path);
    }
  }
  if (change.path == "input.samples_per_s_per_node") document.erase("input.samples_per_s_per_vcpu");
  if (change.path == "input.samples_per_s_per_vcpu") document.erase("input.samples_per_s_per_node");
  if (change.path == "stack.name" && !says(document, change.path, change.value.string())) {
    document.erase("stack.options");
    document.erase("stack.reducer");
  }
  if (std::find(model_variants.begin(), model_variants.end(), change.path) != model_variants.end()) {
    const bool same = change.path == "model.parameters" ? document.find(change.path).has_value()
                                                        : says(document, change.path, change.value.string());
    if (!same) document.erase("model");
  }
}

// Whether `value` stands for one option each; a value that is a list itself is put into another list for that.
bool is_list_of_values(const std::string& key, const JsonView& value) {
  if (!value.is_array()) return false;
  if (find_field(key)->type != FieldType::integers) return true;
  const std::vector<JsonView> items = value.items();
  return !items.empty() && items.front().is_array();
}

struct Alternatives {
  std::string path;
  std::vector<JsonView> values;
};

std::vector<Alternatives> read_entry(const JsonView& entry) {
  std::vector<Alternatives> lists;
  for (const std::string& key : entry.keys()) {
    const JsonView value = entry.at(key);
    check_settable(key, value);
    lists.push_back({key, is_list_of_values(key, value) ? value.items() : std::vector<JsonView>{value}});
    if (lists.back().values.empty()) value.fail("is an empty list", "one value, or a list of at least one");
  }
  if (lists.empty()) entry.fail("changes nothing", "for instance {\"cluster.gpus\": [2, 4, 8]}");
  return lists;
}

}  // namespace

std::string typed_text(const std::string& text) { return printable(text, 4 * text.size() + 1); }

void check_settable(const std::string& key, const JsonView& view) {
  const auto* field = find_field(key);
  if (field == nullptr || (field->path == "model.*" && key == "model.*")) {
    view.fail("unknown key " + quoted(key), settable_hint(key));
  }
  if (!field->settable) view.fail(quoted(key) + " cannot be changed here");
}

void apply(Document& document, const std::vector<Change>& changes, const calibrate::Catalogue& catalogue) {
  for (const Change& change : changes) drop_belongings(document, change, catalogue);
  for (const Change& change : changes) document.set(change.path, change.value);
}

std::vector<std::vector<Change>> expand_options(const JsonView& options) {
  std::vector<std::vector<Change>> all;
  for (const JsonView& entry : options.items()) {
    const std::vector<Alternatives> lists = read_entry(entry);
    std::size_t count = 1;
    for (const Alternatives& list : lists) {
      count *= list.values.size();
      if (all.size() + count > most_alternatives) {
        entry.fail(fmt::format("with this entry there are more than {} alternatives", most_alternatives),
                   "shorten the lists");
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Change> changes;
      std::size_t rest = i, block = count;
      for (const Alternatives& list : lists) {
        block /= list.values.size();
        changes.push_back({list.path, list.values[rest / block]});
        rest %= block;
      }
      all.push_back(std::move(changes));
    }
  }
  return all;
}

}  // namespace foretrain::scenarios
