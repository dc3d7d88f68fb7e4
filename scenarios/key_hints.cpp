#include "scenarios/key_hints.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

// Endings by which people say a unit, longest first where one ends in another.
constexpr std::array<std::string_view, 35> unit_endings = {"_gbytes_per_second",
                                                           "_gbits_per_second",
                                                           "_gbytes_per_s",
                                                           "_gbits_per_s",
                                                           "_mbytes_per_s",
                                                           "_mbits_per_s",
                                                           "_bytes_per_s",
                                                           "_gb_per_s",
                                                           "_gb_s",
                                                           "_mb_s",
                                                           "_gbps",
                                                           "_mbps",
                                                           "_tbps",
                                                           "_bps",
                                                           "_seconds",
                                                           "_minutes",
                                                           "_hours",
                                                           "_millis",
                                                           "_secs",
                                                           "_msec",
                                                           "_usec",
                                                           "_sec",
                                                           "_ms",
                                                           "_us",
                                                           "_ns",
                                                           "_s",
                                                           "_usd_per_hour",
                                                           "_eur_per_hour",
                                                           "_usd",
                                                           "_eur",
                                                           "_gib",
                                                           "_mib",
                                                           "_gb",
                                                           "_mb",
                                                           "_bytes"};

// The quantity without its unit: "step" of "step_ms".
std::string quantity_of(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view ending : unit_endings) {
    if (key.size() > ending.size() && key.compare(key.size() - ending.size(), ending.size(), ending) == 0) {
      return key.substr(0, key.size() - ending.size());
    }
  }
  return key;
}

std::string shown_unit(const FieldInfo& field) {
  if (key_of(field.path) == "inter_node_gbits_per_s") return "Gbit/s, the sum over a node's NICs; 1 GB/s = 8 Gbit/s";
  return field.unit;
}

}  // namespace

std::string key_hint(const std::string& key, const std::vector<const FieldInfo*>& known, const std::string& prefix) {
  const std::string quantity = quantity_of(key);
  std::vector<std::string> names;
  for (const FieldInfo* field : known) {
    const std::string name = key_of(field->path);
    if (name == "*") continue;
    names.push_back(prefix + name);
    if (!field->unit.empty() && quantity == quantity_of(name)) {
      return fmt::format("the key is {} (in {}): convert the value", quoted(prefix + name), shown_unit(*field));
    }
  }
  for (const std::string_view never : {"data", "dp", "data_parallel", "data_parallel_size"}) {
    if (key == never) return "the data-parallel degree is not written: it is gpus / (tensor · pipeline · context)";
  }
  for (const FieldInfo* field : known) {
    const auto& aliases = field->aliases;
    if (std::find(aliases.begin(), aliases.end(), key) == aliases.end()) continue;
    return fmt::format("the key is {}: {}", quoted(prefix + key_of(field->path)), field->doc);
  }
  if (names.empty()) return "no keys are known here";
  constexpr std::size_t longest_list = 20;
  return name_hint(prefix + key, names, longest_list);
}

}  // namespace foretrain::scenarios
