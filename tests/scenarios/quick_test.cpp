#include <nlohmann/json.hpp>

#include "scenarios/reader.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

QuickScenario resnet() {
  QuickScenario quick;
  quick.model = "resnet50";
  quick.machine = "dgx a100";
  quick.gpus = "8";
  quick.batch = "64";
  return quick;
}

Json scenario_of(const QuickScenario& quick) {
  std::vector<std::string> notes;
  Json scenario = quick_scenario(quick, catalogue(), notes);
  CHECK(notes.empty());
  return scenario;
}

Error quick_error(const QuickScenario& quick) {
  std::vector<std::string> notes;
  return error_of([&] { static_cast<void>(quick_scenario(quick, catalogue(), notes)); });
}

}  // namespace

TEST_CASE("Flags make the scenario that a file would") {
  QuickScenario quick = resnet();
  quick.model = "gpt2";
  quick.sequence = "512";
  quick.precision = "bf16";
  quick.optimizer = "adamw";
  quick.step = "0.31";
  const Json json = scenario_of(quick);
  CHECK(json == Json::parse(R"({"foretrain": 1, "model": {"zoo": "gpt2"},
    "training": {"micro_batch": 64, "sequence": 512, "precision": "bf16", "optimizer": "adamw"},
    "cluster": {"machine": "DGX A100", "gpus": 8},
    "measured": [{"gpus": 8, "micro_batch": 64, "step_seconds": 0.31}]})"));
  const sim::Scenario s = read(json.dump()).base;
  CHECK(s.training.sequence == 512);
  CHECK(s.measured.at(0).machine == "DGX A100");
}

TEST_CASE("GPUs are one when not given, model, machine and batch are asked for") {
  QuickScenario quick = resnet();
  quick.gpus = "";
  CHECK(read(scenario_of(quick).dump()).base.cluster.gpus == 1);
  quick.batch = "";
  CHECK(quick_error(quick).where() == "--batch");
  quick.machine = "";
  CHECK(quick_error(quick).where() == "--machine");
  quick.model = "";
  CHECK(quick_error(quick).where() == "--model");
}

TEST_CASE("try counts machines: ranges, lists, names with blanks") {
  QuickScenario quick = resnet();
  quick.try_machines = {"Standard_ND96amsr_A100_v4:1-4,DGX H100:1", "Standard_NC40ads_H100_v5", "DGX-2:1,2, 4"};
  const Json json = scenario_of(quick);
  CHECK(json["options"] == Json::parse(R"([
    {"cluster.machine": "Standard_ND96amsr_A100_v4", "cluster.gpus": [8, 16, 24, 32]},
    {"cluster.machine": "DGX H100", "cluster.gpus": 8},
    {"cluster.machine": "Standard_NC40ads_H100_v5", "cluster.gpus": 1},
    {"cluster.machine": "DGX-2", "cluster.gpus": [16, 32, 64]}])"));
  CHECK(read(json.dump()).options.size() == 9);
}

TEST_CASE("Errors name the flag") {
  const auto error_with = [](const std::string QuickScenario::*flag, const std::string& value) {
    QuickScenario quick = resnet();
    const_cast<std::string&>(quick.*flag) = value;
    return quick_error(quick);
  };
  CHECK_THAT(error_with(&QuickScenario::model, "resnet5").where(), Contains("--model resnet5"));
  CHECK_THAT(error_with(&QuickScenario::model, "resnet5").hint(), Contains("resnet50"));
  CHECK_THAT(error_with(&QuickScenario::model, "none.json").where(), Contains("none.json"));
  CHECK_THAT(error_with(&QuickScenario::machine, "DGX B").where(), Contains("--machine DGX B"));
  CHECK_THAT(error_with(&QuickScenario::gpus, "0").where(), Contains("--gpus 0"));
  CHECK_THAT(error_with(&QuickScenario::gpus, "eight").what(), Contains("\"eight\""));
  CHECK_THAT(error_with(&QuickScenario::batch, "-64").where(), Contains("--batch -64"));
  CHECK_THAT(error_with(&QuickScenario::batch, "1e400").where(), Contains("--batch 1e400"));
  CHECK_THAT(error_with(&QuickScenario::sequence, "1.5").where(), Contains("--sequence 1.5"));
  CHECK_THAT(error_with(&QuickScenario::step, "0").where(), Contains("--step 0"));
  CHECK_THAT(error_with(&QuickScenario::step, "null").where(), Contains("--step null"));
  CHECK_THAT(error_with(&QuickScenario::precision, "fp15").hint(), Contains("fp16"));
  CHECK_THAT(error_with(&QuickScenario::stack, "pytorch").where(), Contains("--stack pytorch"));
  for (const std::string bad : {"DGX H100:0", "DGX H100:4-2", "DGX H100:", "DGX H100:x", ",", "", ":1", "DGX Q:1", "4",
                                "DGX H100:1-99999999999999999999", "DGX H100:1-1000000", "DGX H100:1,,2"}) {
    INFO(bad);
    QuickScenario quick = resnet();
    quick.try_machines = {bad};
    CHECK_THAT(quick_error(quick).where(), Contains("--try"));
  }
}
