#include "calibrate/collective_profile.h"

#include <algorithm>
#include <cassert>

#include "calibrate/machine.h"
#include "calibrate/parse.h"

namespace foretrain::calibrate {
namespace {

CollectiveKind parse_kind(const JsonView& value) {
  const std::vector<std::string>& names = collective_kind_names();
  const std::string name = value.one_of(names);
  return static_cast<CollectiveKind>(std::find(names.begin(), names.end(), name) - names.begin());
}

CollectiveTable parse_table(const JsonView& value) {
  value.allow_only({"device", "intra_node", "collective", "ranks", "link_gbytes_per_s", "bytes", "seconds", "relative_spread",
                    "source"});
  CollectiveTable table;
  table.device = value.at("device").string();
  table.intra_node = value.at("intra_node").one_of(intra_node_names());
  table.kind = parse_kind(value.at("collective"));
  table.ranks = static_cast<int>(value.at("ranks").integer(2, 1024));
  if (const auto rate = value.find("link_gbytes_per_s")) {
    table.link_bandwidth = gbytes_per_s(rate->number({0, 1e6, true}));
  }
  table.bytes = parse_numbers(value.at("bytes"), {0, 1e15, true}, true);
  table.seconds = parse_numbers(value.at("seconds"), {0, 1e6, true}, false);
  if (table.seconds.size() != table.bytes.size()) value.at("seconds").fail("needs one time for each size");
  table.relative_spread = value.at("relative_spread").number({0, 2});
  table.source = value.at("source").string();
  return table;
}

}  // namespace

const std::vector<std::string>& collective_kind_names() {
  static const std::vector<std::string> names = {"all_reduce", "reduce_scatter", "all_gather",
                                                 "all_to_all", "broadcast",      "send_receive"};
  return names;
}

const char* to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::push: return "push";
    case CollectiveKind::pull: return "pull";
    case CollectiveKind::update: return "update";
    default: return collective_kind_names()[static_cast<std::size_t>(kind)].c_str();
  }
}

double bus_factor(CollectiveKind kind, int ranks) {
  assert(ranks >= 1);
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce: return 2 * others;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all: return others;
    case CollectiveKind::broadcast:
    case CollectiveKind::send_receive:
    case CollectiveKind::push:
    case CollectiveKind::pull:
    case CollectiveKind::update: return 1;
  }
  return 1;
}

std::vector<CollectiveTable> parse_collective_tables(const JsonView& file) {
  file.allow_only({"tables"});
  std::vector<CollectiveTable> tables;
  for (const JsonView& value : file.at("tables").items()) tables.push_back(parse_table(value));
  return tables;
}

CollectiveConstants parse_collective_constants(const JsonView& file) {
  file.allow_only({"constants"});
  const JsonView value = file.at("constants");
  value.allow_only({"ring_base_seconds", "tree_base_seconds", "nvlink_step_seconds", "pcie_step_seconds",
                    "ring_efficiency", "tree_efficiency", "pcie_gbytes_per_s", "pcie_scaling_loss_factor",
                    "relative_spread", "source"});
  const auto seconds = [&](const char* key) { return Seconds(value.at(key).number({0, 1})); };
  CollectiveConstants constants;
  constants.ring_base = seconds("ring_base_seconds");
  constants.tree_base = seconds("tree_base_seconds");
  constants.nvlink_step = seconds("nvlink_step_seconds");
  constants.pcie_step = seconds("pcie_step_seconds");
  constants.pcie_scaling_loss_factor = value.at("pcie_scaling_loss_factor").number({0, 100});
  constants.ring_efficiency = value.at("ring_efficiency").number({0, 1, true});
  constants.tree_efficiency = value.at("tree_efficiency").number({0, 1, true});
  const JsonView pcie = value.at("pcie_gbytes_per_s");
  for (const std::string& generation : pcie.keys()) {
    constants.pcie_bandwidth[generation] = gbytes_per_s(pcie.at(generation).number({0, 1e4, true}));
  }
  constants.relative_spread = value.at("relative_spread").number({0, 2});
  constants.source = value.at("source").string();
  return constants;
}

}  // namespace foretrain::calibrate
