#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/listing.h"
#include "models/model.h"
#include "reports/humanise.h"
#include "reports/style.h"
#include "sim/scenario.h"

namespace foretrain::cli {

namespace {

using Align = Table::Align;
using reports::number_text;
using reports::right_padded;
using reports::wrapped;

// The lines of `table`, each followed by what `describe` says of its entry, continued under itself.
template <class Entry, class Describe>
std::string with_descriptions(const Table& table, const std::vector<Entry>& entries, Describe describe) {
  const std::string drawn = table.text();
  std::size_t width = 0;
  for (std::size_t at = 0; at < drawn.size(); at = drawn.find('\n', at) + 1) {
    width = std::max(width, display_width(drawn.substr(at, drawn.find('\n', at) - at)));
  }
  std::size_t at = drawn.find('\n') + 1;
  std::string text = drawn.substr(0, at);
  for (const Entry& entry : entries) {
    const std::size_t end = drawn.find('\n', at);
    text += wrapped(printable(describe(entry), 600), right_padded(drawn.substr(at, end - at), width + 2));
    at = end + 1;
  }
  return text;
}

std::string models_text(const calibrate::Catalogue& catalogue) {
  Table table;
  table.align = {Align::left, Align::right};
  table.header = {"model", "parameters"};
  const std::vector<models::ZooEntry> entries = models::zoo_entries(catalogue.data());
  for (const models::ZooEntry& entry : entries) {
    const double count = entry.published_parameters;
    table.rows.push_back({entry.name, count > 0 ? format_count(count) : ""});
  }
  return with_descriptions(table, entries, [](const models::ZooEntry& entry) { return entry.description; });
}

std::string devices_text(const calibrate::Catalogue& catalogue) {
  Table table;
  table.header = {"device", "generation", "memory", "bandwidth", "power", "peak TFLOP/s"};
  table.align = {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left};
  for (const std::string& name : catalogue.device_names()) {
    const calibrate::Device& device = catalogue.device(name);
    std::vector<std::string> peaks;
    for (const auto& [precision, peak] : device.peak) {
      peaks.push_back(fmt::format("{} {}", models::to_string(precision), significant(peak.value / 1e12, 3)));
    }
    table.rows.push_back({device.name, device.generation, format_bytes(device.memory),
                          format_rate(device.memory_bandwidth), fmt::format("{:.0f} W", device.power_watts),
                          joined(peaks)});
  }
  return table.text();
}

std::string network_cell(const calibrate::Machine& machine) {
  if (machine.network.empty()) return "none";
  if (!machine.inter_node_bandwidth) return machine.network + ", rate unknown";
  return fmt::format("{} {:.0f} Gb/s", machine.network, machine.inter_node_bandwidth->value * 8 / 1e9);
}

std::string machines_text(const calibrate::Catalogue& catalogue) {
  Table table;
  table.header = {"machine", "GPUs", "inside", "network", "per hour"};
  table.align = {Align::left, Align::left, Align::right, Align::left, Align::right};
  std::string retired;
  for (const std::string& name : catalogue.machine_names()) {
    const calibrate::Machine& machine = catalogue.machine(name);
    table.rows.push_back({machine.name, fmt::format("{} × {}", machine.gpus, machine.device),
                          machine.intra_node_bandwidth ? format_rate(*machine.intra_node_bandwidth) : "",
                          network_cell(machine),
                          machine.price_usd_per_hour ? format_money(*machine.price_usd_per_hour) : "unknown"});
    if (machine.retired.empty()) continue;
    const std::string next = machine.successor.empty() ? "no successor" : "use " + machine.successor;
    retired += wrapped(printable(fmt::format("{} ({}): {}", machine.name, machine.retired, next)), "  ");
  }
  std::string text = table.text();
  text += "\ninside: per GPU and direction between the GPUs of one machine; network: all cards of one machine, per "
          "direction.\n";
  return retired.empty() ? text : text + "\nRetired or about to be:\n" + retired;
}

std::string networks_text(const calibrate::Catalogue& catalogue) {
  Table table;
  table.header = {"network", "achieves", "spread", "hop"};
  table.align = {Align::left, Align::right, Align::right, Align::right};
  std::string sources;
  for (const std::string& name : catalogue.network_names()) {
    const calibrate::NetworkKind& network = catalogue.network(name);
    table.rows.push_back({network.name, format_percent(network.achieved_fraction),
                          "±" + format_percent(network.achieved_spread), format_time(network.hop_latency)});
    sources += wrapped(printable(network.source, 600), fmt::format("  {}: ", printable(network.name)));
  }
  return table.text() + "\nachieves: share of line rate that large collectives reach; hop: latency of one step.\n\n" +
         sources;
}

// The values in which `stack` differs from `usual`, as "overlap 0.78, cycle_seconds 5.00 ms".
std::string differences(const calibrate::Stack& stack, const calibrate::Stack& usual) {
  std::vector<std::string> changed;
  for (const auto& [key, value] : stack.values) {
    if (value.value == usual.at(key).value) continue;
    changed.push_back(key + " " + number_text(value.value, value.unit));
  }
  return changed.empty() ? "the same values" : joined(changed);
}

// Every option once, with the values of the stack that scenarios take without saying so; of the others what differs.
std::string stacks_text(const calibrate::Catalogue& catalogue) {
  const calibrate::Stack& usual = catalogue.stack(sim::StackChoice{}.name);
  const std::vector<std::string> names = catalogue.stack_names();
  Table stacks;
  stacks.header = {"stack", "gradients by"};
  for (const std::string& name : names) stacks.rows.push_back({name, catalogue.stack(name).reducer});
  std::string text = with_descriptions(
      stacks, names, [&](const std::string& name) { return catalogue.stack(name).description; });

  const std::vector<std::pair<std::string, calibrate::StackValue>> values(usual.values.begin(), usual.values.end());
  Table options;
  options.header = {"option", usual.name, "known by"};
  options.align = {Align::left, Align::right, Align::left};
  for (const auto& [key, value] : values) {
    options.rows.push_back({key, number_text(value.value, value.unit), to_string(value.provenance)});
  }
  text += '\n' + with_descriptions(options, values, [](const auto& entry) { return entry.second.doc; });
  text += "\nWhat the others say differently:\n";
  for (const std::string& name : names) {
    if (name == usual.name) continue;
    text += wrapped(printable(differences(catalogue.stack(name), usual), 2000), fmt::format("  {}: ", printable(name)));
  }
  return text;
}

}  // namespace

std::string listing_text(const std::string& kind, const calibrate::Catalogue& catalogue) {
  if (kind == "models") return models_text(catalogue);
  if (kind == "devices") return devices_text(catalogue);
  if (kind == "machines") return machines_text(catalogue);
  if (kind == "networks") return networks_text(catalogue);
  return stacks_text(catalogue);
}

}  // namespace foretrain::cli
