#include "tests/catch.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "calibrate/catalogue.h"

namespace foretrain::calibrate {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

// A directory of user data that is gone with the test.
class Overlay {
 public:
  Overlay() {
    std::string path = (fs::temp_directory_path() / "foretrain-overlay-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = path;
  }
  ~Overlay() { fs::remove_all(path_); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  void write(const std::string& kind, const std::string& name, const std::string& text) const {
    fs::create_directories(path_ / kind);
    std::ofstream(path_ / kind / (name + ".json")) << text;
  }
  [[nodiscard]] Catalogue catalogue() const { return Catalogue(DataStore(path_.string())); }

 private:
  fs::path path_;
};

template <class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error("nothing was thrown");
}

const std::string two_gpus = R"({"vendor": "us", "machines": [{"name": "box", "device": "T4", "gpus": 2,
    "intra_node": "pcie", "intra_node_gbytes_per_s": 12, "source": "our own"}]})";

TEST_CASE("every shipped file is read and refers to what exists") {
  const Catalogue catalogue{DataStore()};
  CHECK(catalogue.device_names().size() >= 34);
  CHECK(catalogue.machine_names().size() >= 65);
  for (const std::string& name : catalogue.machine_names()) {
    INFO(name);
    const Machine& machine = catalogue.machine(name);
    CHECK_NOTHROW(catalogue.device(machine.device));
    if (!machine.network.empty()) CHECK_NOTHROW(catalogue.network(machine.network));
    CHECK(machine.inter_node_bandwidth.has_value() <= (machine.nics > 0));
    CHECK(machine.retired.empty() == machine.successor.empty());
    if (!machine.successor.empty()) CHECK(catalogue.machine(machine.successor).retired.empty());
    CHECK_FALSE(machine.source.empty());
    if (machine.price_usd_per_hour) CHECK(*machine.price_usd_per_hour > 0);
  }
  for (const std::string& name : catalogue.network_names()) CHECK_FALSE(catalogue.network(name).source.empty());
  for (const std::string& key : stack_keys()) CHECK_FALSE(catalogue.stack("pytorch-ddp").at(key).source.empty());
  CHECK(catalogue.collective_constants().pcie_bandwidth.size() == 9);
}

TEST_CASE("names are unique, case aside") {
  const Catalogue catalogue{DataStore()};
  std::set<std::string> seen;
  for (std::string name : catalogue.machine_names()) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    CHECK(seen.insert(name).second);
  }
}

TEST_CASE("a collective table is of known GPUs and its bus bandwidth stays below what the links carry") {
  const Catalogue catalogue{DataStore()};
  std::set<std::string> generations;
  for (const std::string& name : catalogue.device_names()) generations.insert(catalogue.device(name).generation);
  for (const CollectiveTable& table : catalogue.collective_tables()) {
    INFO(table.source << ", " << table.ranks << " ranks");
    CHECK(generations.count(table.device) == 1);
    // NCCL's choices may make a larger operation faster, but not by much.
    double longest = 0;
    for (const double seconds : table.seconds) {
      CHECK(seconds > 0.8 * longest);
      longest = std::max(longest, seconds);
    }
    const double bus = bus_factor(table.kind, table.ranks) * table.bytes.back() / table.seconds.back();
    // NVLS adds up in the switch: 480 GB/s of bus bandwidth over 450 GB/s of NVLink.
    CHECK(bus < (table.device == "blackwell" ? 900e9 : table.device == "hopper" ? 500e9 : 300e9));
  }
}

TEST_CASE("what rings reach of NVLink agrees with measured rings") {
  const Catalogue catalogue{DataStore()};
  const double share = catalogue.collective_constants().ring_efficiency;
  struct Ring {
    const char* machine;
    double bus_gbytes_per_s;
  };
  // 8 GPUs without NVLS. H200: all-reduce 365.6, all-gather 361.4, reduce-scatter 362.9; B200: all-reduce 682.2
  // (stas00/ml-engineering); A100: all-gather 223.4 (microsoft/superbenchmark).
  for (const Ring& ring :
       {Ring{"DGX H200", 361.4}, Ring{"DGX H200", 365.6}, Ring{"DGX B200", 682.2}, Ring{"DGX A100", 223.4}}) {
    const double line = catalogue.machine(ring.machine).intra_node_bandwidth->value;
    CHECK(line * share == Approx(ring.bus_gbytes_per_s * 1e9).epsilon(0.08));
  }
}

TEST_CASE("more bytes between nodes never take less time") {
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.network_names()) {
    INFO(name);
    const NetworkKind& network = catalogue.network(name);
    for (std::size_t i = 1; i < network.message_share.size(); ++i) {
      // Time is bytes over share.
      CHECK(network.message_bytes_per_nic[i] / network.message_share[i] >=
            network.message_bytes_per_nic[i - 1] / network.message_share[i - 1] * (1 - 1e-9));
    }
  }
  const Overlay overlay;
  overlay.write("networks", "mine", R"({"name": "mine", "achieved_fraction": 0.5, "achieved_spread": 0.1,
      "message_bytes_per_nic": [1000, 2000], "message_share": [0.1, 0.3], "hop_latency_seconds": 1e-5,
      "hop_spread": 0.1, "time_jitter_per_doubling": 0, "source": "ours"})");
  const Catalogue mine = overlay.catalogue();
  CHECK_THAT(error_of([&] { (void)mine.network("mine"); }).where(), Contains("/message_share"));
}

TEST_CASE("bus bandwidth counts as nccl-tests does") {
  CHECK(bus_factor(CollectiveKind::all_reduce, 8) == Approx(2 * 7.0 / 8));
  CHECK(bus_factor(CollectiveKind::reduce_scatter, 8) == Approx(7.0 / 8));
  CHECK(bus_factor(CollectiveKind::all_gather, 4) == Approx(3.0 / 4));
  CHECK(bus_factor(CollectiveKind::all_to_all, 4) == Approx(3.0 / 4));
  CHECK(bus_factor(CollectiveKind::broadcast, 4) == 1);
  CHECK(bus_factor(CollectiveKind::send_receive, 2) == 1);
}

TEST_CASE("names ignore case and an Azure name its Standard_") {
  const Catalogue catalogue{DataStore()};
  CHECK(catalogue.machine("standard_nc24ADS_a100_v4").name == "Standard_NC24ads_A100_v4");
  CHECK(catalogue.machine("NC96ads_A100_v4").gpus == 4);
  CHECK(catalogue.machine("dgx a100").name == "DGX A100");
  CHECK(catalogue.device("t4").name == "T4");
}

TEST_CASE("what a machine is sold as") {
  const Catalogue catalogue{DataStore()};
  const Machine& ndm = catalogue.machine("Standard_ND96amsr_A100_v4");
  CHECK(ndm.gpus == 8);
  CHECK(ndm.inter_node_bandwidth->value == Approx(8 * 25e9));  // 8 × 200 Gb/s
  CHECK(ndm.intra_node_bandwidth->value == Approx(300e9));
  const Machine& retired = catalogue.machine("NC24s_v3");
  CHECK(retired.retired == "2025-09-30");
  CHECK_FALSE(retired.inter_node_bandwidth.has_value());  // nobody publishes it
  CHECK_FALSE(catalogue.machine("DGX A100").price_usd_per_hour.has_value());
}

TEST_CASE("an unknown name suggests the nearest") {
  const Catalogue catalogue{DataStore()};
  const Error error = error_of([&] { (void)catalogue.machine("p3.16xlrge", "scenario.json: /cluster/machine"); });
  CHECK_THAT(error.what(), Contains("unknown machine \"p3.16xlrge\""));
  CHECK(error.where() == "scenario.json: /cluster/machine");
  CHECK_THAT(error.hint(), Contains("p3.16xlarge"));
  CHECK_THAT(error_of([&] { (void)catalogue.stack("pytorch"); }).what(), Contains("unknown stack"));
}

TEST_CASE("a user's own entry adds to the catalogue or replaces one of its name") {
  const Overlay overlay;
  overlay.write("machines", "ours", two_gpus);
  overlay.write("machines", "dearer", R"({"vendor": "AWS", "machines": [{"name": "P3.16xlarge",
      "device": "V100-SXM2-16GB", "gpus": 8, "intra_node": "nvlink_hybrid_cube_mesh", "intra_node_gbytes_per_s": 150,
      "price_usd_per_hour": 99, "price_note": "contract", "source": "our contract"}]})");
  const Catalogue catalogue = overlay.catalogue();
  CHECK(catalogue.machine("box").gpus == 2);
  CHECK(*catalogue.machine("p3.16xlarge").price_usd_per_hour == 99);
  CHECK(catalogue.machine("p4d.24xlarge").gpus == 8);  // the rest stays
}

TEST_CASE("a device may be like another, with other numbers") {
  const Overlay overlay;
  overlay.write("devices", "T4-half", R"({"name": "T4-half", "like": "T4", "transfer_spread": 0.05,
      "memory_bytes": 8e9, "datasheet_source": "ours"})");
  const Catalogue catalogue = overlay.catalogue();
  const Device& half = catalogue.device("T4-half");
  const Device& whole = catalogue.device("T4");
  CHECK(half.memory.value == 8e9);
  CHECK(half.multiprocessors == whole.multiprocessors);
  const double spread = whole.memory_curve.evidence.relative_spread;
  CHECK(half.memory_curve.evidence.relative_spread == Approx(std::sqrt(spread * spread + 0.05 * 0.05)));
}

TEST_CASE("what a device takes over from another is known less well, what it says itself is not") {
  const Overlay overlay;
  overlay.write("devices", "T4-other", R"({"name": "T4-other", "like": "T4", "chip": "other", "transfer_spread": 0.3,
      "datasheet_source": "ours", "products": {"fp16": {"relative_spread": 0.05, "provenance": "measured",
      "source": "our own table"}, "fp32": {"sustained": 0.9}}})");
  overlay.write("devices", "T4-third", R"({"name": "T4-third", "like": "T4-other", "transfer_spread": 0.4,
      "datasheet_source": "ours"})");
  const Catalogue catalogue = overlay.catalogue();
  const Evidence& whole = catalogue.device("T4").products.at(models::Precision::fp32).evidence;
  const Evidence& taken = catalogue.device("T4-other").products.at(models::Precision::fp32).evidence;
  CHECK(taken.relative_spread == Approx(std::hypot(whole.relative_spread, 0.3)));
  CHECK(taken.provenance == Provenance::assumed);  // another chip
  CHECK(taken.source == "as T4: " + whole.source);
  const Evidence& own = catalogue.device("T4-other").products.at(models::Precision::fp16).evidence;
  CHECK(own.relative_spread == 0.05);
  CHECK(own.provenance == Provenance::measured);
  // A third device inherits the own numbers of the second with its own widening, and the rest with both.
  const Device& third = catalogue.device("T4-third");
  CHECK(third.products.at(models::Precision::fp16).evidence.relative_spread == Approx(std::hypot(0.05, 0.4)));
  CHECK(third.products.at(models::Precision::fp16).evidence.provenance == Provenance::measured);  // the same chip
  CHECK(third.products.at(models::Precision::fp32).evidence.relative_spread ==
        Approx(std::hypot(whole.relative_spread, 0.5)));
}

TEST_CASE("a user's mistakes are named with file and place") {
  const Overlay overlay;
  const auto device_error = [&](const std::string& text) {
    overlay.write("devices", "mine", text);
    const Catalogue catalogue = overlay.catalogue();
    return error_of([&] { (void)catalogue.device("mine"); });
  };
  const auto machine_error = [&](const std::string& fields) {
    overlay.write("machines", "mine",
                  R"({"vendor": "us", "machines": [{"name": "box", "device": "T4", "gpus": 2,
        "intra_node": "pcie", "source": "ours")" +
                      fields + "}]}");
    const Catalogue catalogue = overlay.catalogue();
    return error_of([&] { (void)catalogue.machine("box"); });
  };
  CHECK_THAT(device_error(R"({"name": "mine", "like": "V100-SXM2-16"})").hint(), Contains("V100-SXM2-16GB"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "mine"})").what(), Contains("circle"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "memory_bytes": -1})").where(), Contains("/memory_bytes"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "memory_efficiency": {"share": [1, 1, 1]}})").where(),
             Contains("/memory_efficiency/share"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "products": {"fp16": {"sustained": 1.5}}})").where(),
             Contains("/products/fp16/sustained"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "peak_flops_per_s": {"bf61": 1e12}})").what(),
             Contains("bf61"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "peak_flops_per_s": {"tf32": 1e12}})").what(),
             Contains("without \"products\""));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "transfer_spread": "much"})").where(),
             Contains("/transfer_spread"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "transfer_spread": 0.1, "floors": 1})").where(),
             Contains("/floors"));
  CHECK_THAT(device_error(R"({"name": "mine", "like": "T4", "generation": "voltaic"})").what(), Contains("voltaic"));
  CHECK_THAT(machine_error("").what(), Contains("intra_node_gbytes_per_s"));
  CHECK_THAT(machine_error(R"(, "intra_node_gbytes_per_s": 12, "gpu": 4)").what(), Contains("gpu"));
  CHECK_THAT(machine_error(R"(, "intra_node_gbytes_per_s": 12, "inter_node_gbits_per_s": 25)").what(),
             Contains("nics"));
  CHECK_THAT(machine_error(R"(, "intra_node_gbytes_per_s": 12, "price_usd_per_hour": 0)").where(),
             Contains("/machines/0/price_usd_per_hour"));
}

TEST_CASE("two files of one layer may not define the same name") {
  const Overlay overlay;
  overlay.write("machines", "a", two_gpus);
  overlay.write("machines", "b", two_gpus);
  const Catalogue catalogue = overlay.catalogue();
  CHECK_THAT(error_of([&] { (void)catalogue.machine("box"); }).what(), Contains("defined twice"));
}

}  // namespace
}  // namespace foretrain::calibrate
