// Mapping tables as data: an overlay replaces them, and what is wrong in one is said with its place.
#include <string>

#include "scenarios/corpus/families.h"
#include "scenarios/corpus/tables.h"
#include "tests/base/temporary_directory.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

// What is said of a table of GPUs with this one rule.
std::string complaint(const std::string& rule) {
  const test::TemporaryDirectory overlay;
  overlay.add("corpus/gpus.json", R"({"description": "d", "gpus": [)" + rule + "]}");
  return test::message([&] { (void)CorpusTables(DataStore(overlay.path())); });
}

}  // namespace

TEST_CASE("a data directory replaces a mapping table") {
  const test::TemporaryDirectory overlay;
  overlay.add(
      "corpus/gpus.json",
      R"({"description": "d", "gpus": [{"if": {"gpu": "mine"}, "is": {"device": "A30"}, "source": "a test"}]})");
  const calibrate::Catalogue catalogue{DataStore(overlay.path())};
  const auto corpus = read_families(table_of({plain_row({{"gpu", "Mine 1"}, {"intra_node", "PCIe"}, {"gpus", "1 2 4"}}),
                                              plain_row({{"family_id", "T2"}, {"gpu", "A100"}})}),
                                    "t.csv", catalogue);
  REQUIRE(corpus.families.size() == 1);
  CHECK(corpus.families[0].anchor.scenario.cluster.gpu == "A30");
  REQUIRE(corpus.declined.size() == 1);
  CHECK(corpus.declined[0].id == "T2");
  CHECK(corpus.declined[0].reason == "unsupported: device");
}

TEST_CASE("a rule that cannot be is refused with its place") {
  CHECK_THAT(complaint(R"({"if": {"gpu": "a("}, "is": {"device": "A30"}, "source": "s"})"),
             Contains("/gpus/0/if/gpu: \"a(\" is no regular expression"));
  CHECK_THAT(complaint(R"({"if": {"gpus": "a"}, "is": {"device": "A30"}, "source": "s"})"),
             Contains("unknown key \"gpus\"") && Contains("did you mean \"gpu\"?"));
  CHECK_THAT(complaint(R"({"if": {"gpu": "a"}, "is": {"device": "A30"}})"), Contains("the key \"source\" is missing"));
  CHECK_THAT(complaint(R"({"if": {"gpu": "a"}, "is": {"device": "A30"}, "source": ""})"), Contains("no source"));
  CHECK_THAT(complaint(R"({"if": {"gpu": "a"}, "is": {}, "source": "s"})"),
             Contains("says not exactly one of device and unsupported"));
  CHECK_THAT(complaint(R"({"if": {"gpu": "a"}, "is": {"machine": "A30"}, "source": "s"})"),
             Contains("unknown key \"machine\""));
}

TEST_CASE("an option with a value that no stack can have declines the curve") {
  const test::TemporaryDirectory overlay;
  overlay.add("corpus/stacks.json",
              R"({"stacks": [{"if": {"gpu": "."}, "is": {"stack": "pytorch-ddp"}, "source": "s"}], "sharded_tables": [],
                  "options": [{"if": {"gpu": "."}, "is": {"overlap": 2}, "source": "s"}]})");
  const calibrate::Catalogue catalogue{DataStore(overlay.path())};
  const auto corpus = read_families(table_of({plain_row()}), "t.csv", catalogue);
  REQUIRE(corpus.declined.size() == 1);
  CHECK_THAT(corpus.declined[0].reason, Contains("overlap cannot be 2"));
}

TEST_CASE("options of a stack are keys of stacks") {
  const test::TemporaryDirectory overlay;
  overlay.add("corpus/stacks.json",
              R"({"stacks": [], "sharded_tables": [],
                  "options": [{"if": {"framework": "x"}, "is": {"overlaps": 1}, "source": "s"}]})");
  CHECK_THAT(test::message([&] { (void)CorpusTables(DataStore(overlay.path())); }),
             Contains("did you mean \"overlap\"?"));
}
