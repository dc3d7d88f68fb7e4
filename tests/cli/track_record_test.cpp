// All published curves and runs: what answers quote of them, and the bars that they have to clear.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::string shipped(const std::string& file) { return source_directory() + "/calibrate/" + file; }
std::string corpus(const std::string& file) { return source_directory() + "/tests/truth/" + file; }

Json read_json(const std::string& file) { return nlohmann::ordered_json::parse(read_file(file)); }

// Equal but for the last digits of numbers, which depend on the compiler.
void check_alike(const Json& found, const Json& expected, const std::string& where) {
  INFO(where);
  REQUIRE(found.is_number() == expected.is_number());
  if (found.is_number()) {
    CHECK(found.get<double>() == Approx(expected.get<double>()).epsilon(1e-6).margin(2e-4));
  } else if (found.is_structured()) {
    REQUIRE(found.size() == expected.size());
    auto other = expected.begin();
    for (auto item = found.begin(); item != found.end(); ++item, ++other) check_alike(*item, *other, where);
  } else {
    CHECK(found == expected);
  }
}

}  // namespace

TEST_CASE("the shipped track record and interval factors are what validate finds") {
  const TemporaryDirectory folder;
  const std::string record = folder.file("record.json"), factors = folder.file("factors.json");
  REQUIRE(foretrain_with({"validate", corpus("speedup_families.csv"), corpus("llm_runs.csv"), "-q",
                          "--save-track-record", record, "--save-interval-factors", factors})
              .code == 0);
  INFO("tests/accuracy/refresh writes them");
  const Json found = read_json(record), quoted = read_json(shipped("track_record/published.json"));
  check_alike(found["kinds"], quoted["kinds"], "kinds");
  REQUIRE(found["runs"]["lines"].size() == quoted["runs"]["lines"].size());
  for (std::size_t i = 0; i < found["runs"]["lines"].size(); ++i) {
    check_alike(found["runs"]["lines"][i], quoted["runs"]["lines"][i], quoted["runs"]["lines"][i][0].get<std::string>());
  }
  check_alike(read_json(factors)["classes"], read_json(shipped("interval_factors/llm_runs.json"))["classes"], "factors");
}

TEST_CASE("the bars that published curves have to clear") {
  const Outcome outcome = foretrain_with({"validate", corpus("speedup_families.csv"), "-q", "--gate",
                                          source_directory() + "/tests/accuracy/families_gate.json"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("answers quote the measured runs most like them, and say how far they go beyond") {
  const Outcome near = foretrain_with({"predict", "--model", "gpt3-175b", "--machine", "Standard_ND96amsr_A100_v4",
                                       "--gpus", "1024", "--batch", "12", "--json", "-", "--set", "stack.name=megatron",
                                       "--set", "plan.tensor=8", "--set", "plan.pipeline=8", "--set",
                                       "training.micro_batch=1", "--set", "training.precision=bf16"});
  INFO(near.err);
  REQUIRE(near.code == 0);
  const Json record = nlohmann::ordered_json::parse(near.out)["prediction"]["run_record"];
  CHECK(record["alike"] == Json{"tensor and pipeline parallel", "A100", "megatron"});
  CHECK(record["runs"] >= 5);
  CHECK(record["beyond"].empty());
  const Outcome far = foretrain_with({"predict", "--model", "gpt3-175b", "--machine", "Standard_ND96amsr_A100_v4",
                                      "--gpus", "16384", "--batch", "12", "--json", "-", "--set", "stack.name=megatron",
                                      "--set", "plan.tensor=8", "--set", "plan.pipeline=8", "--set",
                                      "training.micro_batch=1", "--set", "training.precision=bf16"});
  REQUIRE(far.code == 0);
  const Json prediction = nlohmann::ordered_json::parse(far.out)["prediction"];
  CHECK(prediction["extrapolating"] == true);
  CHECK(prediction["run_record"]["beyond"][0].get<std::string>().find("their most GPUs") != std::string::npos);
}
