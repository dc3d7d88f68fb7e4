#include "scenarios/scenario_reader.h"

#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "scenarios/fields.h"
#include "scenarios/key_hints.h"

namespace foretrain::scenarios {
namespace {

template <class Owner>
std::vector<const FieldInfo*> rows_of(const std::vector<Field<Owner>>& fields, const std::string& section) {
  std::vector<const FieldInfo*> rows;
  for (const auto& field : fields) {
    if (section_of(field.path) == section) rows.push_back(&field);
  }
  return rows;
}

[[noreturn]] void fail_unknown(const JsonView& object, const std::string& key, const std::string& hint) {
  object.at(key).fail("unknown key " + quoted(key), hint);
}

void check_keys_of(const JsonView& object, const std::vector<const FieldInfo*>& rows) {
  for (const std::string& key : object.keys()) {
    bool known = false;
    for (const FieldInfo* row : rows) known = known || key_of(row->path) == key || key_of(row->path) == "*";
    if (!known) fail_unknown(object, key, key_hint(key, rows));
  }
}

// The top level: its own values, the sections, and options.
void check_top_keys(const JsonView& top) {
  std::vector<std::string> known = {"foretrain", "name"};
  for (const Section& section : sections()) {
    const std::string name = section.path.substr(0, section.path.find('['));
    if (!name.empty() && section_of(name).empty()) known.push_back(name);
  }
  known.push_back("options");
  for (const std::string& key : top.keys()) {
    bool found = key == "$schema";
    for (const std::string& name : known) found = found || name == key;
    if (found) continue;
    std::string hint = find_field(key) == nullptr || section_of(key).empty()
                           ? name_hint(key, known)
                           : fmt::format("dotted keys are for --set and `options`: write {{\"{}\": {{\"{}\": …}}}}",
                                         section_of(key), key_of(key));
    for (const auto& field : scenario_fields()) {
      if (!section_of(field.path).empty() && key_of(field.path) == key) {
        hint = fmt::format("{} belongs into {}", quoted(key), quoted(section_of(field.path)));
      }
    }
    fail_unknown(top, key, hint);
  }
}

void check_stack_options(const Document& document, const sim::Scenario& scenario, const calibrate::Stack& stack) {
  std::vector<std::string> names;
  for (const auto& [name, value] : stack.values) names.push_back(name);
  for (const auto& [key, value] : scenario.stack.options) {
    if (stack.values.find(key) == stack.values.end()) {
      document.fail("stack.options." + key, "the stack " + quoted(stack.name) + " has no option " + quoted(key),
                    name_hint(key, names));
    }
  }
}

void check_cluster(const Document& document, const sim::ClusterChoice& cluster, const calibrate::Catalogue& catalogue) {
  if (!cluster.machine.empty()) {
    static_cast<void>(catalogue.machine(cluster.machine, document.where("cluster.machine")));
  } else if (!cluster.gpu || !cluster.gpus_per_node) {
    document.fail("cluster", "says neither a machine nor what one is made of",
                  "give \"machine\" (`foretrain list machines`), or at least \"gpu\" and \"gpus_per_node\"");
  }
  if (cluster.gpu) static_cast<void>(catalogue.device(*cluster.gpu, document.where("cluster.gpu")));
  if (cluster.network) static_cast<void>(catalogue.network(*cluster.network, document.where("cluster.network")));
  if (cluster.oversubscription > 1 && !cluster.nodes_per_leaf) {
    document.fail("cluster.oversubscription", "an oversubscribed network needs \"nodes_per_leaf\"",
                  "say how many machines are under one leaf switch");
  }
}

void check_input(const Document& document, const sim::Scenario& scenario) {
  const sim::InputPipeline& input = scenario.input;
  if (input.samples_per_s_per_node && input.samples_per_s_per_vcpu) {
    document.fail("input.samples_per_s_per_vcpu", "the input rate is given twice, per node and per vCPU",
                  "keep one of the two");
  }
  if (input.storage_gbytes_per_s && (input.dataset_bytes == 0 || scenario.training.dataset_samples == 0)) {
    document.fail("input.storage_gbytes_per_s", "a storage rate says nothing without the size of a sample",
                  "give \"dataset_bytes\" here and \"dataset_samples\" in \"training\"");
  }
}

}  // namespace

void check_keys(const Document& document) {
  check_top_keys(*document.find(""));
  for (const Section& section : sections()) {
    const bool has_own_reader = section.path == "model" || section.path == "measured[]";
    if (section.path.empty() || has_own_reader) continue;
    std::vector<const FieldInfo*> rows = rows_of(scenario_fields(), section.path);
    const FieldInfo options{.path = "stack.options", .doc = "Values of the stack in place of its own."};
    if (section.path == "stack") rows.push_back(&options);
    if (const auto object = document.find(section.path)) check_keys_of(*object, rows);
  }
}

sim::Scenario read_values(const Document& document, bool complete) {
  sim::Scenario scenario;
  for (const auto& field : scenario_fields()) {
    if (section_of(field.path) == "model") continue;
    if (field.numbers) {
      const std::string section = section_of(field.path);
      const auto object = document.find(section);
      if (!object) continue;
      for (const std::string& key : object->keys()) {
        const auto value = document.find(section + "." + key);
        field.numbers(scenario)[key] = (value ? *value : object->at(key)).number(field.range);
      }
    } else if (const auto value = document.find(field.path)) {
      field.read(*value, scenario);
    } else if (field.required && complete) {
      document.fail(section_of(field.path), "the key " + quoted(key_of(field.path)) + " is missing",
                    fmt::format("for instance \"{}\": {}", key_of(field.path), field.example));
    }
  }
  scenario.cluster.where = document.where("cluster");
  for (const std::string_view key : {"cluster.gpus", "cluster.machine"}) {
    if (document.is_changed(key)) scenario.cluster.where = document.where(key);
  }
  return scenario;
}

std::vector<sim::Measured> read_measured(const Document& document, const sim::Scenario& own) {
  std::vector<sim::Measured> steps;
  const auto list = document.find("measured");
  if (!list) return steps;
  for (const JsonView& entry : list->items()) {
    check_keys_of(entry, rows_of(measured_fields(), "measured[]"));
    sim::Measured step;
    step.machine = own.cluster.machine;
    if (document.find("training.micro_batch")) step.micro_batch = own.training.micro_batch;
    for (const auto& field : measured_fields()) {
      const std::string key = key_of(field.path);
      const auto value = entry.find(key);
      if (value) field.read(*value, step);
      if (!value && field.required) {
        entry.fail("the key " + quoted(key) + " is missing",
                   fmt::format("for instance \"{}\": {}", key, field.example));
      }
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

void check_scenario(const Document& document, const sim::Scenario& scenario, const calibrate::Catalogue& catalogue) {
  check_cluster(document, scenario.cluster, catalogue);
  check_stack_options(document, scenario, catalogue.stack(scenario.stack.name, document.where("stack.name")));
  check_input(document, scenario);
  for (std::size_t i = 0; i < scenario.measured.size(); ++i) {
    const std::string& machine = scenario.measured[i].machine;
    if (machine.empty()) continue;  // the cluster's own fields
    static_cast<void>(catalogue.machine(machine, document.where("measured." + std::to_string(i) + ".machine")));
  }
  const bool totals = scenario.model.kind == models::ModelSource::Kind::totals;
  if (totals && scenario.model.totals.flops_per_sample == 0 && scenario.measured.empty()) {
    document.fail(
        "model", "the key \"flops_per_sample\" is missing",
        "without it nobody knows how long a step takes: give it (forward plus backward), or a \"measured\" step "
        "of this model");
  }
}

}  // namespace foretrain::scenarios
