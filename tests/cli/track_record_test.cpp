// All published curves: what answers quote of them, and the bars that they have to clear.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("the shipped track record is what validate finds") {
  const TemporaryDirectory folder;
  const std::string file = folder.file("record.json");
  const std::string corpus = source_directory() + "/tests/truth/speedup_families.csv";
  REQUIRE(foretrain_with({"validate", corpus, "-q", "--save-track-record", file}).code == 0);
  const std::string shipped = source_directory() + "/calibrate/track_record/speedup_families.json";
  if (std::getenv("FORETRAIN_UPDATE_GOLDEN") != nullptr) write_file(shipped, read_file(file));
  INFO("FORETRAIN_UPDATE_GOLDEN=1 writes " << shipped);
  const Json found = nlohmann::ordered_json::parse(read_file(file));
  const Json quoted = nlohmann::ordered_json::parse(read_file(shipped));
  REQUIRE(found["kinds"].size() == quoted["kinds"].size());
  for (std::size_t i = 0; i < found["kinds"].size(); ++i) {
    CHECK(found["kinds"][i]["name"] == quoted["kinds"][i]["name"]);
    CHECK(found["kinds"][i]["families"] == quoted["kinds"][i]["families"]);
    CHECK(found["kinds"][i]["points"] == quoted["kinds"][i]["points"]);
    for (const char* key : {"median_ape", "mape", "coverage90"}) {
      CHECK(found["kinds"][i][key].get<double>() == Approx(quoted["kinds"][i][key].get<double>()).margin(1e-6));
    }
  }
}

TEST_CASE("the bars that published curves have to clear") {
  const std::string corpus = source_directory() + "/tests/truth/speedup_families.csv";
  const Outcome outcome =
      foretrain_with({"validate", corpus, "-q", "--gate", source_directory() + "/tests/accuracy/families_gate.json"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}
