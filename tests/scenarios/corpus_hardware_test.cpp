// Boards, servers and clouds that curves of 2016 to 2024 name.
#include <string>

#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;

namespace {

// The GPU of a curve inside one node: of the scenario's own, or of the machine's.
std::string device_of(const std::string& gpu, const Columns& more = {}) {
  Columns changes = {{"intra_node", ""}, {"inter_node", ""}, {"gpus", "1 2 4"}, {"precision", "FP32"}};
  changes["gpu"] = gpu;
  for (const auto& [column, text] : more) changes[column] = text;
  const sim::ClusterChoice cluster = family_of(changes).anchor.scenario.cluster;
  return cluster.gpu ? *cluster.gpu : shared_catalogue().machine(cluster.machine).device;
}

std::string machine_of(const std::string& gpu, const Columns& more) {
  Columns changes = {{"intra_node", ""}, {"inter_node", ""}, {"gpus", "8 16 32"}, {"values", "2000 3900 7500"}};
  changes["gpu"] = gpu;
  for (const auto& [column, text] : more) changes[column] = text;
  return family_of(changes).anchor.scenario.cluster.machine;
}

}  // namespace

TEST_CASE("boards with similar names are told apart") {
  CHECK(device_of("Titan X (Pascal)") == "TITAN-X-Pascal");
  CHECK(device_of("GTX Titan X Pascal") == "TITAN-X-Pascal");
  CHECK(device_of("NVIDIA Titan X") == "TITAN-X-Pascal");  // the later of two
  CHECK(device_of("GeForce GTX TITAN X") == "TITAN-X-Maxwell");
  CHECK(device_of("Titan X (Maxwell)") == "TITAN-X-Maxwell");
  CHECK(device_of("TITAN Xp") == "TITAN-Xp");
  CHECK(device_of("TITAN V") == "TITAN-V");
  CHECK(device_of("TITAN RTX") == "TITAN-RTX");
  CHECK(device_of("GTX 1080") == "GTX-1080");
  CHECK(device_of("GTX1080Ti") == "GTX-1080-Ti");
  CHECK(device_of("RTX 2080 Ti") == "RTX-2080-Ti");
  CHECK(device_of("Tesla M40") == "M40");
  CHECK(device_of("Tesla P40") == "P40");
  CHECK(device_of("Tesla K40m") == "K40");
  CHECK(device_of("A40") == "A40");
  CHECK(device_of("Quadro RTX 6000") == "Quadro-RTX-6000");
  CHECK(device_of("Quadro RTX 8000") == "Quadro-RTX-8000");
  CHECK(device_of("RTX 6000 (Ada)") == "RTX-6000-Ada");
  CHECK(device_of("RTX A6000") == "RTX-A6000");
  CHECK(device_of("V100-PCIE-32GB") == "V100-PCIE-32GB");
  CHECK(device_of("V100 32GB", {{"intra_node", "PCIe"}}) == "V100-PCIE-32GB");
  CHECK(device_of("V100S") == "V100S-PCIE-32GB");
  CHECK(device_of("A800") == "A800-SXM4-80GB");
  CHECK(device_of("H800") == "H800-SXM5-80GB");
  CHECK(device_of("H20") == "H20-96GB");
  CHECK(device_of("L20") == "L20");
  CHECK(device_of("RTX 3080") == "RTX-3080");
  CHECK(device_of("RTX 4080") == "RTX-4080");
  CHECK(device_of("RTX 5090") == "RTX-5090");
  CHECK(device_of("Blackwell Ultra") == "B300-SXM-288GB");
  CHECK(device_of("GB300 NVL72") == "GB300-288GB");
  CHECK(device_of("NVL72") == "GB200-186GB");
  CHECK(reason_of({{"gpu", "RTX PRO 6000 Blackwell"}}) == "unsupported: device");
  CHECK(reason_of({{"gpu", "RTX 3080 Ti"}}) == "unsupported: device");
  CHECK(reason_of({{"gpu", "RTX 2080"}}) == "unsupported: device");
}

TEST_CASE("P100 behind a slow network, or of a cloud, are PCIe boards") {
  CHECK(device_of("P100", {{"inter_node", "25GbE RoCE"}}) == "P100-PCIE-16GB");
  CHECK(device_of("P100", {{"inter_node", "25GbE RoCE"}, {"intra_node", "NVLink"}}) == "P100-SXM2-16GB");
  CHECK(device_of("P100", {{"inter_node", "100 Gb/s EDR InfiniBand"}}) == "P100-SXM2-16GB");
  CHECK(device_of("P100", {{"intra_node", "Google Cloud"}}) == "P100-PCIE-16GB");
}

TEST_CASE("boards without a machine stand in PCIe servers of four, or of as many as the row says") {
  const auto cluster = [](const Columns& more) {
    Columns changes = {{"gpu", "GTX 1080 Ti"}, {"intra_node", ""}, {"inter_node", "56 Gb/s FDR InfiniBand"}};
    for (const auto& [column, text] : more) changes[column] = text;
    return family_of(changes).anchor.scenario.cluster;
  };
  CHECK(cluster({}).gpus_per_node == 4);
  CHECK(cluster({}).intra_node == "pcie");
  CHECK(cluster({}).inter_node_gbits_per_s == 56.0);
  CHECK(cluster({{"intra_node", "8 per machine"}}).gpus_per_node == 8);
  CHECK(cluster({{"inter_node", ""}, {"gpus", "1 4 8"}}).gpus_per_node == 8);  // one server
}

TEST_CASE("clouds are known by the names of their families, wherever they stand") {
  CHECK(machine_of("V100", {{"intra_node", "AWS p3dn"}}) == "p3dn.24xlarge");
  CHECK(machine_of("V100", {{"inter_node", "EC2 p3 instances"}}) == "p3.16xlarge");
  CHECK(machine_of("V100", {{"intra_node", "p3.8xlarge"}}) == "p3.8xlarge");
  CHECK(machine_of("A100", {{"variant", "p4d instances"}}) == "p4d.24xlarge");
  CHECK(machine_of("A100", {{"intra_node", "p4de"}}) == "p4de.24xlarge");
  CHECK(machine_of("H100", {{"intra_node", "AWS P5"}}) == "p5.48xlarge");
  CHECK(machine_of("K80", {{"intra_node", "AWS P2"}}) == "p2.16xlarge");
  CHECK(machine_of("T4", {{"intra_node", "g4dn"}}) == "g4dn.12xlarge");
  CHECK(machine_of("A10G", {{"intra_node", "AWS"}}) == "g5.48xlarge");
  CHECK(machine_of("V100", {{"intra_node", "GCP"}}) == "n1-standard-96-v100x8");
  CHECK(machine_of("P100", {{"intra_node", "Google Cloud"}}) == "n1-standard-64-p100x4");
  CHECK(machine_of("K80", {{"intra_node", "Google Cloud"}}) == "n1-standard-32-k80x8");
  CHECK(machine_of("A100 80GB", {{"intra_node", "Google Cloud"}}) == "a2-ultragpu-8g");
  CHECK(machine_of("H100", {{"intra_node", "a3-megagpu-8g"}}) == "a3-megagpu-8g");
  CHECK(machine_of("P100", {{"intra_node", "Azure NCv2"}}) == "Standard_NC24rs_v2");
  CHECK(machine_of("P40", {{"intra_node", "Azure ND"}}) == "Standard_ND24rs");
  CHECK(machine_of("V100", {{"intra_node", "Azure NDv2"}}) == "Standard_ND40rs_v2");
  CHECK(machine_of("A800", {}) == "HGX A800");
  CHECK(machine_of("H800", {}) == "HGX H800");
  CHECK(machine_of("GH200", {}) == "GH200 server");
  CHECK(machine_of("GH200", {{"intra_node", "Alps"}}) == "HPE Cray EX254n GH200");
}
