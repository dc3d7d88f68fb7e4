// Hardware that measured runs and price lists name is in the catalogue, or left out for a stated reason.
#include "tests/catch.h"

#include <cmath>

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

TEST_CASE("numbers of a device are possible ones") {
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.device_names()) {
    INFO(name);
    const Device& device = catalogue.device(name);
    CHECK_FALSE(device.datasheet_source.empty());
    CHECK(device.memory.value >= 12e9);
    CHECK(device.memory.value <= 310e9);
    CHECK(device.idle_watts < device.power_watts);
    CHECK(device.peak.count(models::Precision::fp32) == 1);
    // Clocks: an fp32 lane does two FLOPs a cycle, and a multiprocessor has 64 to 192 of them.
    const double per_multiprocessor = device.peak.at(models::Precision::fp32).value / device.multiprocessors;
    CHECK(per_multiprocessor > 2 * 64 * 0.7e9);
    CHECK(per_multiprocessor < 2 * 192 * 2.7e9);
    const auto fp16 = device.peak.find(models::Precision::fp16);
    const bool tensor_cores = device.generation != "kepler" && device.generation != "pascal";
    CHECK((fp16 != device.peak.end()) == tensor_cores);
    for (const auto& [precision, product] : device.products) {
      CHECK(product.evidence.relative_spread > 0.05);
      for (const Tile& tile : product.tiles) CHECK(tile.share <= 1);
    }
    for (const auto& [direction, curve] : device.attention) CHECK(curve.share.back() <= 1);
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

}  // namespace
}  // namespace foretrain::calibrate
