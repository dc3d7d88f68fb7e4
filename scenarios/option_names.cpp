#include "scenarios/option_names.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "scenarios/fields.h"

namespace foretrain::scenarios {
namespace {

bool changes_key(const std::vector<Change>& changes, std::string_view path) {
  return std::any_of(changes.begin(), changes.end(), [path](const Change& change) { return change.path == path; });
}

std::string shown(const JsonView& value) {
  if (value.is_string()) return printable(value.string());
  if (!value.is_array()) return value.json().dump();
  std::vector<std::string> parts;  // "24+24+20": layers of stages
  for (const JsonView& item : value.items()) parts.push_back(item.json().dump());
  return printable(joined(parts, "+"));
}

std::string change_name(const Change& change) {
  const auto* field = find_field(change.path);
  const std::string label = field->numbers ? key_of(change.path) + " {}" : field->label;
  return fmt::format(fmt::runtime(label), shown(change.value));
}

}  // namespace

std::string cluster_name(const sim::ClusterChoice& cluster, const calibrate::Catalogue& catalogue) {
  std::string name;
  std::int64_t per_node = 0;
  if (cluster.machine.empty()) {
    per_node = *cluster.gpus_per_node;
    name = fmt::format("{}-GPU machine with {}", per_node, printable(*cluster.gpu));
  } else {
    const calibrate::Machine& machine = catalogue.machine(cluster.machine, cluster.where);
    per_node = cluster.gpus_per_node.value_or(machine.gpus);
    name = machine.name;
  }
  const std::int64_t nodes = (cluster.gpus + per_node - 1) / per_node, places = nodes * per_node;
  const std::string used =
      cluster.gpus == places ? std::to_string(places) : fmt::format("{} of {}", cluster.gpus, places);
  return fmt::format("{} × {} ({} {})", nodes, name, used, places == 1 ? "GPU" : "GPUs");
}

std::string option_name(const sim::Scenario& base, const sim::Scenario& option, const std::vector<Change>& changes,
                        const calibrate::Catalogue& catalogue) {
  std::string name = cluster_name(option.cluster, catalogue);
  for (const Change& change : changes) {
    if (change.path == "cluster.machine" || change.path == "cluster.gpus") continue;
    name += ", " + change_name(change);
  }
  const sim::Training &before = base.training, &after = option.training;
  if (after.micro_batch != before.micro_batch && !changes_key(changes, "training.micro_batch")) {
    name += fmt::format(", micro-batch {}", after.micro_batch);
    if (!changes_key(changes, "training.global_batch")) name += fmt::format(", global batch {}", after.global_batch);
  }
  if (option.measured.empty() && !base.measured.empty()) name += ", without the measured step";
  return name;
}

}  // namespace foretrain::scenarios
