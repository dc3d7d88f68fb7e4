#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/listing.h"
#include "models/model.h"

namespace foretrain::cli {

namespace {

template <class Measure>
Json number_or_null(const std::optional<Measure>& measure, double divisor) {
  return measure ? Json(measure->value / divisor) : Json(nullptr);
}

Json models_json(const calibrate::Catalogue& catalogue) {
  Json items = Json::array();
  for (const models::ZooEntry& entry : models::zoo_entries(catalogue.data())) {
    Json item;
    item["name"] = entry.name;
    item["family"] = entry.family;
    item["description"] = entry.description;
    item["parameters"] = entry.published_parameters > 0 ? Json(entry.published_parameters) : Json(nullptr);
    item["source"] = entry.source;
    items.push_back(item);
  }
  return items;
}

Json devices_json(const calibrate::Catalogue& catalogue) {
  Json items = Json::array();
  for (const std::string& name : catalogue.device_names()) {
    const calibrate::Device& device = catalogue.device(name);
    Json item;
    item["name"] = device.name;
    item["generation"] = device.generation;
    item["memory_bytes"] = device.memory.value;
    item["memory_gbytes_per_s"] = device.memory_bandwidth.value / 1e9;
    item["power_watts"] = device.power_watts;
    for (const std::string& precision : models::precision_names()) {
      const auto peak = device.peak.find(models::precision_from(precision));
      item["peak_" + precision + "_flops_per_s"] = peak == device.peak.end() ? Json(nullptr) : Json(peak->second.value);
    }
    item["source"] = device.datasheet_source;
    items.push_back(item);
  }
  return items;
}

Json machines_json(const calibrate::Catalogue& catalogue) {
  Json items = Json::array();
  for (const std::string& name : catalogue.machine_names()) {
    const calibrate::Machine& machine = catalogue.machine(name);
    Json item;
    item["name"] = machine.name;
    item["vendor"] = machine.vendor;
    item["gpu"] = machine.device;
    item["gpus_per_node"] = machine.gpus;
    item["intra_node"] = to_string(machine.intra_node);
    item["intra_node_gbytes_per_s"] = number_or_null(machine.intra_node_bandwidth, 1e9);
    item["network"] = machine.network;
    item["nics_per_node"] = machine.nics;
    item["inter_node_gbits_per_s"] = number_or_null(machine.inter_node_bandwidth, 1e9 / 8);
    item["vcpus"] = machine.vcpus > 0 ? Json(machine.vcpus) : Json(nullptr);
    item["price_usd_per_hour"] = machine.price_usd_per_hour ? Json(*machine.price_usd_per_hour) : Json(nullptr);
    item["price_note"] = machine.price_note;
    item["retired"] = machine.retired;
    item["successor"] = machine.successor;
    item["source"] = machine.source;
    item["notes"] = machine.notes;
    items.push_back(item);
  }
  return items;
}

Json networks_json(const calibrate::Catalogue& catalogue) {
  Json items = Json::array();
  for (const std::string& name : catalogue.network_names()) {
    const calibrate::NetworkKind& network = catalogue.network(name);
    Json item;
    item["name"] = network.name;
    item["achieved_fraction"] = network.achieved_fraction;
    item["achieved_spread"] = network.achieved_spread;
    item["hop_latency_seconds"] = network.hop_latency.value;
    item["hop_spread"] = network.hop_spread;
    item["source"] = network.source;
    items.push_back(item);
  }
  return items;
}

// One object per option of a stack, as that is what a scenario may override.
Json stacks_json(const calibrate::Catalogue& catalogue) {
  Json items = Json::array();
  for (const std::string& name : catalogue.stack_names()) {
    const calibrate::Stack& stack = catalogue.stack(name);
    for (const auto& [key, value] : stack.values) {
      Json item;
      item["stack"] = stack.name;
      item["option"] = key;
      item["value"] = value.value;
      item["unit"] = value.unit;
      item["relative_spread"] = value.relative_spread;
      item["provenance"] = to_string(value.provenance);
      item["doc"] = value.doc;
      item["source"] = value.source;
      items.push_back(item);
    }
  }
  return items;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

}  // namespace

Json listing_json(const std::string& kind, const calibrate::Catalogue& catalogue) {
  if (kind == "models") return models_json(catalogue);
  if (kind == "devices") return devices_json(catalogue);
  if (kind == "machines") return machines_json(catalogue);
  if (kind == "networks") return networks_json(catalogue);
  return stacks_json(catalogue);
}

Table listing_table(const Json& items) {
  Table table;
  if (items.empty()) return table;
  for (const auto& field : items.front().items()) table.header.push_back(field.key());
  for (const Json& item : items) {
    std::vector<std::string> row;
    for (const Json& value : item) row.push_back(cell(value));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace foretrain::cli
