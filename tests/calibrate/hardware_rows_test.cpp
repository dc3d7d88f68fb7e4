// Hardware that measured runs and price lists name is in the catalogue, or left out for a stated reason.
#include "tests/catch.h"

#include <map>
#include <set>
#include <string>

#include "calibrate/catalogue.h"
#include "tests/calibrate/tables.h"

namespace foretrain::calibrate {
namespace {

TEST_CASE("every named GPU is a device, or left out for a reason") {
  const Catalogue catalogue{DataStore()};
  for (const TableRow& row : read_table("gpu_rows")) {
    INFO(row.at("row"));
    const bool left_out = row.at("device") == "-";
    CHECK(left_out == (row.at("reason") != "-"));
    if (!left_out) CHECK_NOTHROW(catalogue.device(row.at("device")));
  }
}

TEST_CASE("every named machine is in the catalogue, or left out for a reason") {
  const Catalogue catalogue{DataStore()};
  for (const TableRow& row : read_table("machine_rows")) {
    INFO(row.at("row"));
    const bool left_out = row.at("machine") == "-";
    CHECK(left_out == (row.at("reason") != "-"));
    if (!left_out) CHECK(catalogue.machine(row.at("machine")).gpus == number(row, "gpus"));
  }
}

TEST_CASE("links of a machine are those of its GPU's generation") {
  // Line rates per GPU and direction: NVLink 1 to 5 (4, 6, 12, 18 and 18 links), PCIe gen3 to gen5 in 16 lanes.
  const std::map<std::string, double> nvlink = {
      {"pascal", 80e9}, {"volta", 150e9}, {"ampere", 300e9}, {"hopper", 450e9}, {"blackwell", 900e9}};
  const std::map<std::string, double> pcie = {{"kepler", 15.8e9}, {"pascal", 15.8e9}, {"volta", 15.8e9},
                                              {"turing", 15.8e9}, {"ampere", 31.5e9}, {"ada", 31.5e9},
                                              {"hopper", 63e9}};
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.machine_names()) {
    INFO(name);
    const Machine& machine = catalogue.machine(name);
    const std::string& generation = catalogue.device(machine.device).generation;
    if (machine.gpus == 1) continue;
    if (machine.intra_node == IntraNode::pcie) {
      CHECK(machine.intra_node_bandwidth->value < pcie.at(generation));
    } else {
      CHECK(machine.intra_node_bandwidth->value <= nvlink.at(generation));
    }
    // No more than a 800 Gb/s card to each GPU.
    if (machine.inter_node_bandwidth) CHECK(machine.inter_node_bandwidth->value <= machine.gpus * 100e9);
  }
}

TEST_CASE("a rack of one NVLink domain is one machine") {
  const Catalogue catalogue{DataStore()};
  const Machine& rack = catalogue.machine("GB200 NVL72");
  CHECK(rack.gpus == 18 * 4);
  CHECK(rack.nics == rack.gpus);
  CHECK(rack.inter_node_bandwidth->value == Approx(72 * 50e9));
  CHECK(rack.vcpus == 36 * 72);
}

TEST_CASE("numbers of a device are possible ones") {
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.device_names()) {
    INFO(name);
    const Device& device = catalogue.device(name);
    CHECK_FALSE(device.datasheet_source.empty());
    CHECK(device.memory.value >= 8e9);
    CHECK(device.memory.value <= 310e9);
    CHECK(device.idle_watts < device.power_watts);
    CHECK(device.peak.count(models::Precision::fp32) == 1);
    // Clocks: an fp32 lane does two FLOPs a cycle, and a multiprocessor has 64 to 192 of them.
    const double per_multiprocessor = device.peak.at(models::Precision::fp32).value / device.multiprocessors;
    CHECK(per_multiprocessor > 2 * 64 * 0.7e9);
    CHECK(per_multiprocessor < 2 * 192 * 2.7e9);
    const auto fp16 = device.peak.find(models::Precision::fp16);
    const std::set<std::string> without_tensor_cores = {"kepler", "maxwell", "pascal"};
    const bool tensor_cores = without_tensor_cores.count(device.generation) == 0;
    CHECK((fp16 != device.peak.end()) == tensor_cores);
    for (const auto& [precision, product] : device.products) {
      CHECK(product.evidence.relative_spread > 0.05);
      for (const Tile& tile : product.tiles) CHECK(tile.share <= 1);
    }
    for (const auto& [generation, kernel] : device.attention) {
      INFO("attention of generation " << generation);
      CHECK(kernel.backward.share <= kernel.forward.share);
      CHECK(kernel.evidence.relative_spread > 0.05);
    }
  }
}

TEST_CASE("the further a device is from a measured one, the less is known of it") {
  const Catalogue catalogue{DataStore()};
  const auto spread = [&](const char* name) {
    return catalogue.device(name).products.at(models::Precision::fp16).evidence.relative_spread;
  };
  CHECK(spread("A100-SXM4-80GB") < spread("A100-PCIE-40GB"));  // another board
  CHECK(spread("A100-PCIE-40GB") < spread("A30"));             // half the chip
  CHECK(spread("A30") < spread("A40"));                        // another chip of the generation
  CHECK(spread("A40") < spread("RTX-6000-Ada"));               // another generation
  CHECK(spread("RTX-6000-Ada") < spread("L4"));                // and another chip of that
  CHECK(spread("B200-SXM-180GB") < spread("GB200-186GB"));
}

TEST_CASE("boards of older generations are known less well the further they are from a measured one") {
  const Catalogue catalogue{DataStore()};
  const auto spread = [&](const char* name, models::Precision precision) {
    return catalogue.device(name).products.at(precision).evidence.relative_spread;
  };
  const auto fp32 = models::Precision::fp32, fp16 = models::Precision::fp16;
  CHECK(spread("P100-PCIE-16GB", fp32) < spread("TITAN-X-Pascal", fp32));  // another chip of the generation
  CHECK(spread("TITAN-X-Pascal", fp32) < spread("GTX-1080", fp32));        // and another chip of that
  CHECK(spread("GTX-1080", fp32) < spread("M40", fp32));                   // another generation
  CHECK(spread("V100-PCIE-16GB", fp16) < spread("TITAN-V", fp16));         // another board
  CHECK(spread("TITAN-V", fp16) < spread("RTX-2080-Ti", fp16));            // another generation
  CHECK(catalogue.device("TITAN-V").chip == "V100");
  CHECK(catalogue.device("TITAN-X-Maxwell").generation == "maxwell");
}

TEST_CASE("GeForce boards accumulate fp16 products in fp32 at half rate") {
  const Catalogue catalogue{DataStore()};
  // Of fp16 per multiprocessor and clock cycle, where the clock follows from two FLOPs per fp32 lane and cycle.
  const auto per_cycle = [&](const char* name, double lanes) {
    const auto& peak = catalogue.device(name).peak;
    return peak.at(models::Precision::fp16) / peak.at(models::Precision::fp32) * 2 * lanes;
  };
  CHECK(per_cycle("TITAN-RTX", 64) == Approx(1024).epsilon(0.01));
  CHECK(per_cycle("RTX-2080-Ti", 64) == Approx(512).epsilon(0.01));
  CHECK(per_cycle("A40", 128) == Approx(1024).epsilon(0.01));
  CHECK(per_cycle("RTX-3080", 128) == Approx(512).epsilon(0.01));
  CHECK(per_cycle("RTX-4080", 128) == Approx(512).epsilon(0.01));
  CHECK(per_cycle("RTX-5090", 128) == Approx(512).epsilon(0.01));
}

}  // namespace
}  // namespace foretrain::calibrate
