// What result files of the real program promise.
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

const std::string azure = example("handwriting-azure.json");

Json result_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "-", "-q"});
  const Outcome outcome = foretrain_with(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::ordered_json::parse(outcome.out);
}

void check_breakdown_sums(const Json& prediction) {
  double sum = 0;
  for (const auto& part : prediction["breakdown"]) sum += part["value"].get<double>();
  CHECK(sum == Approx(prediction["step_time"]["value"].get<double>()).epsilon(1e-9));
}

void check_quantities(const Json& json) {
  if (json.is_object() && json.contains("value") && json.contains("low")) {
    CHECK_FALSE(json["provenance"].get<std::string>().empty());
    if (json["value"].is_null()) return;
    CHECK(json["low"].get<double>() <= json["value"].get<double>());
    CHECK(json["value"].get<double>() <= json["high"].get<double>());
    return;
  }
  if (json.is_structured()) {
    for (const auto& item : json) check_quantities(item);
  }
}

}  // namespace

TEST_CASE("the breakdown sums to the step, in every option") {
  check_breakdown_sums(result_of({"predict", azure})["prediction"]);
  const Json decision = result_of({"decide", azure});
  check_breakdown_sums(decision["base"]["prediction"]);
  for (const auto& option : decision["alternatives"]) check_breakdown_sums(option["prediction"]);
}

TEST_CASE("every quantity says where it is from and lies in its interval") {
  check_quantities(result_of({"predict", azure})["prediction"]);
  check_quantities(result_of({"decide", azure})["alternatives"]);
}

TEST_CASE("a decision begins with its answer and recommends something it lists") {
  for (const char* name : {"handwriting-azure.json", "resnet50-two-nodes-tcp.json", "gpt2-two-p3-tcp.json"}) {
    INFO(name);
    const Json decision = result_of({"decide", example(name)});
    const std::string answer = decision["answer"].get<std::string>();
    CHECK((answer == "Yes" || answer == "No" || answer == "It depends"));
    CHECK(decision["verdict"].get<std::string>().rfind(answer, 0) == 0);
    bool listed = decision["recommended"] == decision["base"]["name"];
    for (const auto& option : decision["alternatives"]) listed = listed || option["name"] == decision["recommended"];
    CHECK(listed);
  }
}

TEST_CASE("independent runs are quoted exactly for options of several GPUs") {
  const Json decision = result_of({"decide", azure});
  int several = 0;
  for (const auto& option : decision["alternatives"]) {
    const bool one_gpu = option["prediction"]["data_parallel"] == 1;
    CHECK(option["independent_runs"]["value"].is_null() == one_gpu);
    several += one_gpu ? 0 : 1;
  }
  CHECK(several >= 5);
}

TEST_CASE("the scenario in a result is a scenario that gives the same result") {
  const TemporaryDirectory folder;
  const Json first = result_of({"predict", azure});
  write_file(folder.file("again.json"), first["scenario"].dump());
  CHECK(result_of({"predict", folder.file("again.json")})["prediction"] == first["prediction"]);
}

TEST_CASE("replaying every rank changes nothing but the events") {
  const std::vector<std::string> flags = {"predict", "--model", "resnet50", "--machine", "p3.16xlarge",
                                          "--gpus", "16", "--batch", "64"};
  std::vector<std::string> unfolded = flags;
  unfolded.push_back("--no-fold");
  const double folded_step = result_of(flags)["prediction"]["step_time"]["value"].get<double>();
  const double unfolded_step = result_of(unfolded)["prediction"]["step_time"]["value"].get<double>();
  CHECK(unfolded_step == Approx(folded_step).epsilon(1e-9));
}

TEST_CASE("explain lists terms with formula, provenance and source") {
  const Json result = result_of({"explain", azure});
  REQUIRE(result["terms"].size() > 50);
  for (const auto& term : result["terms"]) {
    CHECK_FALSE(term["formula"].get<std::string>().empty());
    CHECK_FALSE(term["provenance"].get<std::string>().empty());
    CHECK_FALSE(term["source"].get<std::string>().empty());
  }
}

TEST_CASE("the catalogue is listed in every form") {
  for (const char* kind : {"models", "devices", "machines", "networks", "stacks"}) {
    INFO(kind);
    const Json result = result_of({"list", kind});
    CHECK(result[kind].size() > 0);
    CHECK_FALSE(foretrain_with({"list", kind}).out.empty());
    CHECK_FALSE(foretrain_with({"list", kind, "--csv", "-"}).out.empty());
    CHECK(foretrain_with({"list", kind, "--md", "-"}).out.rfind("| ", 0) == 0);
  }
}

TEST_CASE("a retired machine names its successor in the list") {
  const Json result = result_of({"list", "machines"});
  int retired = 0;
  for (const auto& machine : result["machines"]) {
    if (machine["retired"] == "") continue;
    CHECK(machine["successor"] != "");
    ++retired;
  }
  CHECK(retired > 0);
}

TEST_CASE("init writes a scenario that predicts, schema a JSON Schema") {
  const TemporaryDirectory folder;
  CHECK(foretrain_with({"init", folder.file("s.json")}).code == 0);
  CHECK(foretrain_with({"predict", folder.file("s.json")}).code == 0);
  const Outcome again = foretrain_with({"init", folder.file("s.json")});
  CHECK(again.code == 2);
  CHECK(again.err.find("exists already") != std::string::npos);
  CHECK(nlohmann::ordered_json::parse(foretrain_with({"schema"}).out)["type"] == "object");
}
