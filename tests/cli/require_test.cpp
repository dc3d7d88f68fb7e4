#include "cli/require.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::cli;

namespace {

const Json result = {{"answer", "Yes"},
                     {"prediction",
                      {{"speedup", {{"value", 3.5}, {"low", 3.0}, {"high", 4.0}}},
                       {"cost", {{"value", nullptr}, {"low", nullptr}, {"high", nullptr}}},
                       {"memory", {{"fits", true}}},
                       {"nodes", 2}}},
                     {"alternatives", {{{"gain", {{"value", 2.0}}}}}}};

std::vector<std::string> unmet(const std::string& requirement) { return unmet_requirements({requirement}, result); }

std::string refusal(const std::string& requirement) {
  try {
    static_cast<void>(unmet(requirement));
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every comparison is exact at its border") {
  CHECK(unmet("speedup.value>=3.5").empty());
  CHECK(unmet("speedup.value<=3.5").empty());
  CHECK(unmet("speedup.value==3.5").empty());
  CHECK(unmet("speedup.value>3.5") == std::vector<std::string>{"speedup.value is 3.5, required > 3.5"});
  CHECK(unmet("speedup.value<3.5").size() == 1);
  CHECK(unmet("speedup.value >= 3").empty());
}

TEST_CASE("keys are found at the root and under prediction, list elements by number") {
  CHECK(unmet("prediction.speedup.low>=3").empty());
  CHECK(unmet("nodes==2").empty());
  CHECK(unmet("answer==Yes").empty());
  CHECK(unmet("answer==No").size() == 1);
  CHECK(unmet("memory.fits==true").empty());
  CHECK(unmet("memory.fits==false").size() == 1);
  CHECK(unmet("alternatives.0.gain.value>=2").empty());
}

TEST_CASE("names may have dots themselves") {
  const Json groups = {{"groups", {{"paper_2205.05198", {{"mape", 0.03}}}, {"paper_2205", {{"mape", 0.5}}}}}};
  CHECK(unmet_requirements({"groups.paper_2205.05198.mape<=0.05"}, groups).empty());
  CHECK(unmet_requirements({"groups.paper_2205.mape<=0.05"}, groups).size() == 1);
  CHECK_THROWS_AS(unmet_requirements({"groups.paper_2205.05199.mape<=1"}, groups), Error);
}

TEST_CASE("what is not known meets nothing") {
  CHECK(unmet("cost.value<=1e9") == std::vector<std::string>{"cost.value is unknown, required <= 1e9"});
}

TEST_CASE("unknown keys and malformed tests are refused with a hint") {
  CHECK(refusal("speedup.vlaue>=1").find("did you mean speedup.value?") != std::string::npos);
  CHECK(refusal("speedup>=1").find("write speedup.value, speedup.low or speedup.high") != std::string::npos);
  CHECK(refusal("alternatives.7.gain.value>=1").find("no value") != std::string::npos);
  CHECK(refusal("speedup.value").find("compares nothing") != std::string::npos);
  CHECK(refusal("speedup.value=3").find("no comparison") != std::string::npos);
  CHECK(refusal(">=3").find("no comparison") != std::string::npos);
  CHECK(refusal("speedup.value>=three").find("no number") != std::string::npos);
  CHECK(refusal("speedup.value>=nan").find("no number") != std::string::npos);
  CHECK(refusal("answer>=Yes").find("only ==") != std::string::npos);
}

TEST_CASE("several requirements are all checked") {
  CHECK(unmet_requirements({"nodes==3", "speedup.value>=1", "answer==No"}, result).size() == 2);
}
