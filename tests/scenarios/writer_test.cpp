#include <nlohmann/json.hpp>

#include "base/files.h"
#include "scenarios/reader.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;

TEST_CASE("A written scenario says what differs from the defaults, in the table's order") {
  const std::string text = small_scenario(R"(, "precision": "fp16", "scaling": "weak", "dataset_samples": 5e6)",
                                          R"(, "stack": {"options": {"bucket_bytes": 1e6}}, "plan": {"tensor": 1})");
  CHECK(
      write_scenario(read(text).base).dump() ==
      R"({"foretrain":1,"model":{"zoo":"resnet50"},"training":{"micro_batch":64,"precision":"fp16","dataset_samples":5000000},)"
      R"("stack":{"options":{"bucket_bytes":1000000}},"cluster":{"machine":"DGX A100","gpus":8}})");
}

TEST_CASE("Writing and reading again changes nothing") {
  std::vector<std::string> texts = {
      small_scenario(
          R"(, "global_batch": 1024, "scaling": "strong", "epochs": 0.5)",
          R"(, "input": {"samples_per_s_per_node": 2999.5}, "measured": [{"gpus": 1, "micro_batch": 32, "step_seconds": 0.25}])"),
      R"({"foretrain": 1, "model": {"zoo": "gpt2", "layers": 24}, "training": {"micro_batch": 1, "sequence": 512},
          "cluster": {"gpu": "A100-SXM4-80GB", "gpus_per_node": 4, "gpus": 16, "intra_node": "nvswitch",
                      "intra_node_gbytes_per_s": 300, "nics_per_node": 4, "inter_node_gbits_per_s": 800,
                      "network": "infiniband", "network_achieved_fraction": 0.8, "vcpus": 96, "price_usd_per_hour": 0,
                      "nodes_per_leaf": 2, "oversubscription": 4, "straggler_slowdown": 1.1},
          "plan": {"tensor": 2, "pipeline": 2, "context": 2, "expert": 2, "sharding": "zero3", "recompute": "full",
                   "schedule": "interleaved", "interleave": 2}})",
      R"({"foretrain": 1, "model": {"parameters": 9e6, "flops_per_sample": 6e10, "activation_bytes_per_sample": 1e7, "layers": 20},
          "training": {"micro_batch": 1}, "cluster": {"machine": "DGX A100"}})",
      R"({"foretrain": 1, "model": {"operators": "two_operators.json"}, "training": {"micro_batch": 1}, "cluster": {"machine": "DGX A100"}})"};
  for (const std::string& path : example_paths()) texts.push_back(read_file(path));
  for (const std::string& text : texts) {
    INFO(text);
    const sim::Question question = read(text);
    std::vector<sim::Scenario> scenarios = {question.base};
    for (const sim::Alternative& option : question.options) scenarios.push_back(option.scenario);
    for (const sim::Scenario& scenario : scenarios) {
      const Json once = write_scenario(scenario);
      CHECK(write_scenario(read(once.dump()).base) == once);
    }
  }
}
