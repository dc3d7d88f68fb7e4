#include "scenarios/deepspeed.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

const std::string fixtures = FORETRAIN_SOURCE_DIR "/tests/scenarios/fixtures/";

// `config` put on a run of eight GPUs of which `training` is known.
Json applied(const std::string& config, const Json& training = Json::object()) {
  const Json file = parse_json(config, "ds.json");
  Json scenario = {{"training", training}, {"cluster", {{"gpus", 8}}}};
  std::vector<std::string> notes;
  apply_deepspeed(JsonView(file, "ds.json"), scenario, notes);
  return scenario;
}

Error applied_error(const std::string& config) {
  INFO(config);
  return error_of([&] { static_cast<void>(applied(config)); });
}

}  // namespace

TEST_CASE("A configuration says batches, precision, optimizer, sharding and buckets") {
  const Json scenario = applied(read_file(fixtures + "ds_zero3.json"));
  CHECK(scenario["training"] == Json::parse(R"({"micro_batch": 4, "global_batch": 128, "precision": "bf16",
                                               "optimizer": "adamw"})"));
  CHECK(scenario["plan"]["sharding"] == "zero3");
  const Json& options = scenario["stack"]["options"];
  CHECK(options["bucket_bytes"] == 2e8);  // 5e7 elements of four bytes
  CHECK(options["overlap"] == 0);
  CHECK(options["fused_optimizer"] == 0);
}

TEST_CASE("Two of the three batches give the third, and flags fill in what is auto") {
  const auto training = [](const std::string& batches, const Json& known = Json::object()) {
    return applied("{" + batches + R"(, "fp16": {"enabled": true}})", known)["training"];
  };
  // 8 ranks
  CHECK(training(R"("train_batch_size": 64)")["micro_batch"] == 8);
  CHECK(training(R"("train_batch_size": 64, "gradient_accumulation_steps": 4)")["micro_batch"] == 2);
  CHECK(training(R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4)")["global_batch"] == 64);
  CHECK_FALSE(training(R"("train_micro_batch_size_per_gpu": 2)").contains("global_batch"));
  CHECK(training(R"("train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto")",
                 {{"micro_batch", 3}})["micro_batch"] == 3);
  CHECK_THAT(applied_error(R"({"train_batch_size": "auto"})").hint(), Contains("--batch"));
  CHECK_THAT(applied_error(R"({"train_batch_size": 63})").where(), Contains("/train_batch_size"));
  CHECK_THAT(applied_error(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2,
                               "gradient_accumulation_steps": 2})").what(), Contains("64 is not 2 · 2 · 8"));
}

TEST_CASE("Precision left to the script is asked for") {
  const std::string config =
      R"({"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}})";
  CHECK_THAT(applied_error(config).hint(), Contains("--precision"));
  CHECK(applied(config, {{"precision", "bf16"}})["training"]["precision"] == "bf16");
  CHECK(applied(R"({"train_micro_batch_size_per_gpu": 1})")["training"]["precision"] == "fp32");
}

TEST_CASE("Stages, MiCS, and what overlaps by default") {
  const auto stage = [](const std::string& zero) {
    return applied(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {)" + zero + "}}");
  };
  CHECK(stage(R"("stage": 1)")["plan"]["sharding"] == "zero1");
  CHECK(stage(R"("stage": 2)")["stack"]["options"]["overlap"] == 0);
  CHECK(stage(R"("stage": 3)")["stack"]["options"]["overlap"] == 1);
  CHECK(stage(R"("stage": 0)")["plan"]["sharding"] == "none");
  const Json mics = stage(R"("stage": 3, "mics_shard_size": 4)");
  CHECK(mics["plan"] == Json::parse(R"({"sharding": "hsdp", "shard_group": 4})"));
}

TEST_CASE("Limits of gathers are numbers of units") {
  const Json file = parse_json(read_file(fixtures + "ds_zero3.json"), "ds.json");
  Json scenario = Json::object();
  apply_gather_limits(JsonView(file, "ds.json"), 1e7, scenario);
  // 3e7 and 1e8 elements, of 1e7 per unit; one of the gathered ones is in use
  CHECK(scenario["stack"]["options"] == Json::parse(R"({"prefetched_units": 3, "gathers_in_flight": 9})"));
}

TEST_CASE("What is not simulated is an error at its key") {
  const std::pair<const char*, const char*> cases[] = {
      {R"("zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}})", "/offload_param/device"},
      {R"("zero_optimization": {"stage": 2, "cpu_offload": true})", "/cpu_offload"},
      {R"("zero_optimization": {"stage": 3, "zero_quantized_weights": true})", "/zero_quantized_weights"},
      {R"("zero_optimization": {"stage": [0, 1]})", "/stage"},
      {R"("zero_optimization": {"stage": 4})", "/stage"},
      {R"("optimizer": {"type": "Muon"})", "/optimizer/type"},
      {R"("fp16": {"enabled": "perhaps"})", "/fp16/enabled"},
      {R"("fp16": {"enabled": true}, "bf16": {"enabled": true})", "/fp16"},
      {R"("sequence_parallel_size": 4)", "/sequence_parallel_size"}};
  for (const auto& [more, where] : cases) {
    const Error error = applied_error(std::string(R"({"train_micro_batch_size_per_gpu": 1, )") + more + "}");
    CHECK_THAT(error.where(), Contains(where));
  }
  CHECK_THAT(applied_error("[]").what(), Contains("object"));
}

TEST_CASE("With flags it is a run of the deepspeed stack") {
  QuickScenario quick;
  quick.model = "gpt2";
  quick.machine = "DGX A100";
  quick.gpus = "8";
  quick.deepspeed = fixtures + "ds_zero3.json";
  std::vector<std::string> notes;
  const sim::Scenario scenario = read(quick_scenario(quick, catalogue(), notes).dump()).base;
  CHECK(scenario.stack.name == "deepspeed");
  CHECK(scenario.plan.sharding == "zero3");
  // A block of GPT-2 has 12·768² + 13·768 = 7,087,872 parameters: 3e7 hold four of them, 1e8 fourteen
  CHECK(scenario.stack.options.at("prefetched_units") == 4);
  CHECK(scenario.stack.options.at("gathers_in_flight") == 13);
}

TEST_CASE("A key that DeepSpeed does not document is said to be ignored, with the nearest one") {
  const Json file = parse_json(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimizaton": {"stage": 3}})", "ds.json");
  Json scenario = {{"training", Json::object()}, {"cluster", {{"gpus", 8}}}};
  std::vector<std::string> notes;
  apply_deepspeed(JsonView(file, "ds.json"), scenario, notes);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes.front(), Contains("\"zero_optimizaton\""));
  CHECK_THAT(notes.front(), Contains("did you mean \"zero_optimization\""));
}
