#include "calibrate/machine.h"

#include "calibrate/parse.h"

namespace foretrain::calibrate {
namespace {

IntraNode parse_intra_node(const JsonView& value) {
  const std::string name = value.one_of(intra_node_names());
  for (const IntraNode kind : {IntraNode::nvswitch, IntraNode::nvlink_hybrid_cube_mesh, IntraNode::nvlink_pairs,
                               IntraNode::pcie}) {
    if (name == to_string(kind)) return kind;
  }
  return IntraNode::none;
}

Machine parse_machine(const JsonView& value, const std::string& vendor) {
  value.allow_only({"name", "device", "gpus", "intra_node", "intra_node_gbytes_per_s", "nics",
                    "inter_node_gbits_per_s", "network", "vcpus", "price_usd_per_hour", "price_note", "retired",
                    "successor", "source", "notes"});
  constexpr NumberRange rate{0, 1e6, true};
  Machine machine;
  machine.vendor = vendor;
  machine.name = value.at("name").string();
  machine.device = value.at("device").string();
  machine.gpus = static_cast<int>(value.at("gpus").integer(1, 1024));
  machine.intra_node = parse_intra_node(value.at("intra_node"));
  if (const auto given = value.find("intra_node_gbytes_per_s")) {
    machine.intra_node_bandwidth = gbytes_per_s(given->number(rate));
  }
  if ((machine.gpus == 1) != (machine.intra_node == IntraNode::none)) {
    value.at("intra_node").fail("\"none\" is for one GPU and only for it");
  }
  if (machine.gpus > 1 && !machine.intra_node_bandwidth) value.fail("several GPUs without \"intra_node_gbytes_per_s\"");
  if (const auto given = value.find("nics")) machine.nics = static_cast<int>(given->integer(0, 1024));
  if (const auto given = value.find("inter_node_gbits_per_s")) {
    machine.inter_node_bandwidth = gbits_per_s(given->number(rate));
    if (machine.nics == 0) given->fail("a network rate without \"nics\"", "the rate is the sum over this many cards");
  }
  machine.network = optional_text(value, "network");
  if (const auto given = value.find("vcpus")) machine.vcpus = static_cast<int>(given->integer(1, 100000));
  if (const auto given = value.find("price_usd_per_hour")) {
    machine.price_usd_per_hour = given->number({0, 1e6, true});
    machine.price_note = value.at("price_note").string();
  }
  machine.retired = optional_text(value, "retired");
  machine.successor = optional_text(value, "successor");
  machine.source = value.at("source").string();
  machine.notes = optional_text(value, "notes");
  return machine;
}

}  // namespace

const std::vector<std::string>& intra_node_names() {
  static const std::vector<std::string> names = {"none", "nvswitch", "nvlink_hybrid_cube_mesh", "nvlink_pairs", "pcie"};
  return names;
}

const char* to_string(IntraNode kind) { return intra_node_names()[static_cast<std::size_t>(kind)].c_str(); }

std::vector<Machine> parse_machines(const JsonView& file) {
  file.allow_only({"vendor", "machines"});
  const std::string vendor = file.at("vendor").string();
  std::vector<Machine> machines;
  for (const JsonView& value : file.at("machines").items()) machines.push_back(parse_machine(value, vendor));
  return machines;
}

}  // namespace foretrain::calibrate
