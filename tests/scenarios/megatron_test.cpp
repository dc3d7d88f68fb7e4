#include "scenarios/megatron.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "scenarios/megatron_log.h"
#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

const std::string fixtures = FORETRAIN_SOURCE_DIR "/tests/scenarios/fixtures/";

const char* const smallest =
    "pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--micro-batch-size 4 ";

Json run(const std::string& text, std::optional<std::int64_t> gpus = std::nullopt) {
  std::vector<std::string> notes;
  return megatron_scenario(text, "run", gpus, notes);
}

std::string notes_of(const std::string& text) {
  std::vector<std::string> notes;
  static_cast<void>(megatron_scenario(text, "run", std::nullopt, notes));
  std::string all;
  for (const std::string& note : notes) all += note + "\n";
  return all;
}

Error run_error(const std::string& more) {
  INFO(more);
  return error_of([&] { static_cast<void>(run(smallest + more)); });
}

QuickScenario quick_of(const std::string& file) {
  QuickScenario quick;
  quick.megatron = file;
  quick.machine = "DGX A100";
  return quick;
}

sim::Scenario scenario_of(const QuickScenario& quick) {
  std::vector<std::string> notes;
  return read(quick_scenario(quick, catalogue(), notes).dump()).base;
}

}  // namespace

TEST_CASE("A launch script of Megatron-Core becomes a scenario") {
  const Json scenario = run(read_file(fixtures + "launch.sh"));
  CHECK(scenario == Json::parse(R"({
    "foretrain": 1,
    "model": {"zoo": "megatron-gpt", "layers": 32, "hidden": 4096, "heads": 32, "key_value_heads": 8,
              "feed_forward": 14336, "gated_feed_forward": 1, "rms_norm": 1, "learned_positions": 0,
              "rotary_positions": 1, "biases": 0, "query_key_value_biases": 0, "tied_embeddings": 0, "dropout": 0,
              "vocabulary": 32000},
    "training": {"micro_batch": 2, "global_batch": 512, "sequence": 4096, "precision": "bf16", "optimizer": "adam",
                 "scaling": "strong"},
    "stack": {"name": "megatron-core", "options": {"overlap_parameter_gather": 0, "pipeline_overlap": 1}},
    "cluster": {"gpus": 32},
    "plan": {"tensor": 4, "sequence_parallel": true, "pipeline": 2, "sharding": "zero1", "recompute": "full",
             "recompute_every": 2, "schedule": "interleaved", "interleave": 4}})"));
  CHECK(run(read_file(fixtures + "launch.sh"), 64)["cluster"]["gpus"] == 64);
}

TEST_CASE("A log gives the run and its measured step") {
  const Json scenario = run(read_file(fixtures + "megatron_core.log"));
  CHECK(scenario["model"]["vocabulary"] == 32256);  // as the log says it was padded
  CHECK(scenario["plan"] == Json::parse(R"({"tensor": 2, "sequence_parallel": true, "pipeline": 2, "sharding": "zero1",
                                            "recompute": "selective"})"));
  CHECK(scenario["cluster"]["gpus"] == 8);
  // 812.5, 801.0, 799.5, 803.0, 9999.0 and 800.0 ms: between the third and the fourth of them, (801 + 803) / 2
  CHECK(scenario["measured"][0]["step_seconds"].get<double>() == Approx(0.802).epsilon(1e-12));
  CHECK(scenario["measured"][0]["gpus"] == 8);
  CHECK_THAT(notes_of(read_file(fixtures + "megatron_core.log")), Contains("median of 6 lines"));
}

TEST_CASE("Older names of arguments") {
  const std::string text = read_file(fixtures + "megatron_old_names.log");
  const Json scenario = run(text);
  // 4 samples, 16 accumulation steps, 8 / (2·2) ranks
  CHECK(scenario["training"]["global_batch"] == 128);
  CHECK(scenario["plan"] ==
        Json::parse(R"({"tensor": 2, "pipeline": 2, "sharding": "zero1", "recompute": "full"})"));
  CHECK(scenario["stack"]["name"] == "deepspeed");
  // 5e7 elements of four bytes
  CHECK(scenario["stack"]["options"]["bucket_bytes"] == 200000000);
  CHECK(scenario["model"]["vocabulary"] == 50257);
  CHECK_FALSE(scenario.contains("measured"));  // the only iteration has warm-up in it
  CHECK_THAT(notes_of(text), Contains("warm-up"));
}

TEST_CASE("Defaults are Megatron's") {
  const Json scenario = run(smallest);
  CHECK(scenario["model"]["feed_forward"] == 4096);
  CHECK(scenario["model"]["positions"] == 1024);
  CHECK(scenario["training"]["precision"] == "fp32");
  CHECK_FALSE(scenario["training"].contains("global_batch"));
  CHECK_FALSE(scenario["training"].contains("scaling"));
  CHECK(scenario["stack"] == Json::parse(R"({"name": "megatron"})"));
  CHECK(scenario["plan"] == Json::parse(R"({"sharding": "none"})"));
  CHECK_FALSE(scenario["cluster"].contains("gpus"));
  // two thirds of 4·1024, to a multiple of 64: 2730 becomes 2688
  CHECK(run(std::string(smallest) + "--swiglu")["model"]["feed_forward"] == 2688);
}

TEST_CASE("Stages of unequal layers") {
  const auto layers = [](const std::string& more) {
    return run(smallest + ("--pipeline-model-parallel-size 4 " + more))["plan"]["stage_layers"];
  };
  // 24 − 3 are 21 over three stages
  CHECK(layers("--decoder-first-pipeline-num-layers 3") == Json({3, 7, 7, 7}));
  // 24 layers, the embedding and the loss are 26 over four stages: no
  CHECK_THAT(run_error("--pipeline-model-parallel-size 4 --account-for-embedding-in-pipeline-split "
                       "--account-for-loss-in-pipeline-split").what(), Contains("24 layers"));
  // 24 + 2 over 2 stages: 13, less one at either end
  CHECK(run(std::string(smallest) + "--pipeline-model-parallel-size 2 --account-for-embedding-in-pipeline-split "
            "--account-for-loss-in-pipeline-split")["plan"]["stage_layers"] == Json({12, 12}));
}

TEST_CASE("What changes time and is not simulated is an error at its line") {
  const std::pair<const char*, const char*> cases[] = {
      {"--num-experts 8", "experts"},           {"--context-parallel-size 2", "context"},
      {"--optimizer-cpu-offload", "host"},      {"--mtp-num-layers 1", "multi-token"},
      {"--multi-latent-attention", "latent"},   {"--recompute-granularity full --recompute-method block", "block"},
      {"--optimizer muon", "muon"},             {"--window-size 128,0", "window"},
      {"--recompute-granularity selective --recompute-modules mlp", "mlp"}};
  for (const auto& [more, word] : cases) {
    const Error error = run_error(more);
    CHECK_THAT(error.what(), Contains(word));
    CHECK(error.where() == "run:1");
  }
  CHECK(run(std::string(smallest) + "--num-experts 1 --context-parallel-size 1")["plan"]["sharding"] == "none");
  CHECK_THAT(error_of([] { static_cast<void>(run("pretrain_bert.py --num-layers 24")); }).what(), Contains("BERT"));
  CHECK_THAT(error_of([] { static_cast<void>(run("pretrain_gpt.py --num-layers 24")); }).what(),
             Contains("--hidden-size is missing"));
  CHECK_THAT(notes_of(std::string(smallest) + "--tp-comm-overlap"), Contains("left out"));
  CHECK_THAT(notes_of(std::string(smallest) + "--lr 1 --seed 2"), Contains("ignored: 2 arguments"));
}

TEST_CASE("Flags change an imported run, without a machine or a number of GPUs it asks for one") {
  QuickScenario quick = quick_of(fixtures + "launch.sh");
  const sim::Scenario own = scenario_of(quick);
  CHECK(own.plan.tensor == 4);
  CHECK(own.model.overrides.at("layers") == 32);
  quick.gpus = "64";
  quick.batch = "1";
  quick.sequence = "2048";
  const sim::Scenario changed = scenario_of(quick);
  CHECK(changed.cluster.gpus == 64);
  CHECK(changed.training.global_batch == 512);
  CHECK(changed.training.micro_batch == 1);
  CHECK(changed.training.sequence == 2048);
  quick.machine = "";
  std::vector<std::string> notes;
  CHECK(error_of([&] { static_cast<void>(quick_scenario(quick, catalogue(), notes)); }).where() == "--machine");
  quick.model = "gpt2";
  CHECK_THAT(error_of([&] { static_cast<void>(quick_scenario(quick, catalogue(), notes)); }).what(),
             Contains("--model and --megatron"));

  QuickScenario log = quick_of(fixtures + "megatron_core.log");
  CHECK(scenario_of(log).measured.at(0).machine == "DGX A100");
  log.precision = "fp16";
  CHECK(scenario_of(log).measured.empty());
}

TEST_CASE("Torn, binary and strange logs end in an error or a scenario") {
  const std::string text = read_file(fixtures + "megatron_core.log");
  const auto survives = [](const std::string& torn) {
    try {
      static_cast<void>(run(torn));
    } catch (const Error& error) {
      CHECK_FALSE(std::string(error.what()).empty());
    }
  };
  for (std::size_t length = 0; length < text.size(); length += 37) survives(text.substr(0, length));
  for (std::size_t at = 0; at < text.size(); at += 101) {
    std::string changed = text;
    changed[at] = static_cast<char>(at % 256);
    survives(changed);
  }
  survives("---- arguments ----\n" + std::string(5000000, 'x'));
  survives(std::string(100000, '\0'));
  CHECK(usual_step({}).lines == 0);
  // Ramping up: only steps of the last batch count, and the first line never.
  CHECK(usual_step({{9, 8}, {1, 4}, {2, 8}}).seconds == 2);
}
