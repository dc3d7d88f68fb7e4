#include <nlohmann/json.hpp>

#include "base/files.h"
#include "models/model.h"
#include "scenarios/reader.h"
#include "sim/cluster.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;

TEST_CASE("Every shipped example can be asked: its clusters and models can be made") {
  const std::vector<std::string> paths = example_paths();
  CHECK(paths.size() >= 5);
  for (const std::string& path : paths) {
    INFO(path);
    const sim::Question question = read(read_file(path));
    CHECK_FALSE(question.base.name.empty());
    CHECK_FALSE(question.options.empty());
    std::vector<sim::Scenario> scenarios = {question.base};
    for (const sim::Alternative& option : question.options) scenarios.push_back(option.scenario);
    for (const sim::Scenario& scenario : scenarios) {
      CHECK(sim::resolve_cluster(scenario.cluster, catalogue()).gpus == scenario.cluster.gpus);
      const models::Model model = models::build_model(
          scenario.model, {scenario.training.micro_batch, scenario.training.sequence}, catalogue().data());
      CHECK(models::parameter_count(model) > 0);
    }
  }
}

TEST_CASE("The two handwriting examples differ in the measured step alone") {
  const std::string folder = FORETRAIN_SOURCE_DIR "/scenarios/examples/";
  Json plain = parse_json(read_file(folder + "handwriting-azure.json"), "plain");
  Json measured = parse_json(read_file(folder + "handwriting-azure-measured.json"), "measured");
  CHECK(measured["measured"].size() == 1);
  measured.erase("measured");
  measured["name"] = plain["name"];
  CHECK(measured == plain);
}

TEST_CASE("The handwriting example can be asked under strong scaling too") {
  // 64 samples over 12 GPUs: 5 each, 60 in all
  const sim::Question question = read(example_text(), {"training.scaling=strong"});
  CHECK(question.options.at(2).name == "3 × Standard_NC96ads_A100_v4 (12 GPUs), micro-batch 5, global batch 60");
  CHECK(question.options.at(6).scenario.training.micro_batch == 64);
}
