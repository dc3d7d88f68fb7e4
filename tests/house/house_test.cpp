// The rules hold for every file, and each rule finds a planted violation.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/house/rules.h"

using namespace foretrain;
using namespace foretrain::house;
using Sentences = std::vector<std::string>;

namespace {

// The sentences for a source file that has nothing but this include.
Sentences including(const std::string& path, const std::string& name) {
  return violations({path, "#include " + name + "\n"});
}

const std::vector<File>& tree() {
  static const std::vector<File> files = source_files(FORETRAIN_SOURCE_DIR);
  return files;
}

}  // namespace

TEST_CASE("every file keeps the rules of the house") {
  REQUIRE(tree().size() > 50);  // the walk finds the tree
  Sentences found;
  for (const File& file : tree()) {
    for (const std::string& sentence : violations(file)) found.push_back(sentence);
  }
  CHECK(found == Sentences{});
  CHECK(violations_together(tree()) == Sentences{});
}

TEST_CASE("every source file is built by some target") {
  const std::string commands_path = FORETRAIN_BINARY_DIR "/compile_commands.json";
  const Json commands = parse_json(read_file(commands_path), commands_path);
  std::set<std::string> built;
  for (const Json& command : commands) built.insert(command.at("file").get<std::string>());
  Sentences forgotten;
  for (const File& file : tree()) {
    const bool is_source = file.path.size() > 4 && file.path.compare(file.path.size() - 4, 4, ".cpp") == 0;
    if (is_source && built.count(std::string(FORETRAIN_SOURCE_DIR "/") + file.path) == 0)
      forgotten.push_back(file.path);
  }
  CHECK(forgotten == Sentences{});
}

TEST_CASE("includes point one way") {
  CHECK(including("base/text.cpp", "\"base/units.h\"").empty());
  CHECK(including("base/text.cpp", "\"models/model.h\"") ==
        Sentences{"base/text.cpp:1: base/ may not include \"models/model.h\""});
  CHECK(including("models/zoo.cpp", "\"calibrate/device.h\"") ==
        Sentences{"models/zoo.cpp:1: models/ may not include \"calibrate/device.h\""});
  CHECK(including("calibrate/catalogue.cpp", "\"models/model.h\"").empty());
  CHECK(including("calibrate/catalogue.cpp", "\"sim/job.h\"") ==
        Sentences{"calibrate/catalogue.cpp:1: calibrate/ may not include \"sim/job.h\""});
  CHECK(including("kernels/main.cu", "\"base/error.h\"").empty());
  CHECK(including("kernels/main.cu", "\"models/model.h\"") ==
        Sentences{"kernels/main.cu:1: kernels/ may not include \"models/model.h\""});
  CHECK(including("sim/studies/decide.cpp", "\"sim/strategies/compose.h\"").empty());
  CHECK(including("sim/studies/decide.cpp", "\"scenarios/reader.h\"") ==
        Sentences{"sim/studies/decide.cpp:1: sim/ may not include \"scenarios/reader.h\""});
  CHECK(including("sim/fold.h", "\"reports/text.h\"").front() ==
        "sim/fold.h:1: sim/ may not include \"reports/text.h\"");
  CHECK(including("cli/predict.cpp", "\"sim/studies/predict.h\"").empty());
  CHECK(including("cli/predict.cpp", "\"kernels/devices.h\"") ==
        Sentences{"cli/predict.cpp:1: cli/ may not include \"kernels/devices.h\""});
}

TEST_CASE("scenarios and reports see sim's structs, not its engine, strategies or studies") {
  CHECK(including("scenarios/reader.cpp", "\"sim/scenario.h\"").empty());
  CHECK(including("scenarios/reader.cpp", "\"sim/studies/predict.h\"") ==
        Sentences{"scenarios/reader.cpp:1: scenarios/ may not include \"sim/studies/predict.h\""});
  CHECK(including("scenarios/reader.cpp", "\"reports/text.h\"") ==
        Sentences{"scenarios/reader.cpp:1: scenarios/ may not include \"reports/text.h\""});
  CHECK(including("reports/text.cpp", "\"sim/prediction.h\"").empty());
  CHECK(including("reports/text.cpp", "\"sim/engine/replay.h\"") ==
        Sentences{"reports/text.cpp:1: reports/ may not include \"sim/engine/replay.h\""});
  CHECK(including("reports/text.cpp", "\"models/model.h\"") ==
        Sentences{"reports/text.cpp:1: reports/ may not include \"models/model.h\""});
}

TEST_CASE("each library stays where it belongs") {
  CHECK(including("sim/engine/replay.cpp", "<simgrid/s4u.hpp>").empty());
  CHECK(including("sim/fold.cpp", "<simgrid/s4u.hpp>") ==
        Sentences{"sim/fold.cpp:1: SimGrid is for sim/engine/*.cpp, sim/engine/simgrid_compat.h only"});
  CHECK(including("tests/sim/engine_test.cpp", "<simgrid/s4u.hpp>") ==
        Sentences{"tests/sim/engine_test.cpp:1: SimGrid is for sim/engine/*.cpp, sim/engine/simgrid_compat.h only"});
  CHECK(violations(
            {"sim/engine/zone.h", "// A zone.\n#pragma once\n#include <simgrid/kernel/routing/NetZoneImpl.hpp>\n"}) ==
        Sentences{"sim/engine/zone.h:3: SimGrid is for sim/engine/*.cpp, sim/engine/simgrid_compat.h only"});
  CHECK(including("kernels/devices.cu", "<cuda_runtime.h>").empty());
  CHECK(including("calibrate/device.cpp", "<cuda_runtime.h>") ==
        Sentences{"calibrate/device.cpp:1: CUDA is for kernels/*.cu only"});
  CHECK(including("kernels/arguments.cpp", "<nccl.h>") ==
        Sentences{"kernels/arguments.cpp:1: NCCL is for kernels/*.cu only"});
  CHECK(including("scenarios/reader.cpp", "<CLI/CLI.hpp>") ==
        Sentences{"scenarios/reader.cpp:1: CLI11 is for cli/*.cpp only"});
  CHECK(including("sim/studies/predict.cpp", "<nlohmann/json.hpp>").empty());
  CHECK(violations({"base/json.h", "// JSON.\n#pragma once\n#include <nlohmann/json.hpp>\n"}) ==
        Sentences{"base/json.h:3: nlohmann's whole JSON header is for **.cpp only"});
  CHECK(including("tests/base/text_test.cpp", "<catch2/catch.hpp>") ==
        Sentences{"tests/base/text_test.cpp:1: Catch2 is for tests/catch.h, tests/catch_main.cpp only"});
}

TEST_CASE("project headers are named from the top of the tree") {
  CHECK(including("tests/base/text_test.cpp", "\"thrown.h\"") ==
        Sentences{"tests/base/text_test.cpp:1: \"thrown.h\" is not written from the top of the tree"});
  CHECK(including("base/text.cpp", "\"text.h\"") == Sentences{"base/text.cpp:1: base/ may not include \"text.h\""});
}

TEST_CASE("headers say what they are and are read once") {
  CHECK(violations({"base/a.h", "// A.\n#pragma once\n"}).empty());
  CHECK(violations({"base/a.h", "#pragma once\n"}) ==
        Sentences{"base/a.h:1: a header begins with a comment that says what it is",
                  "base/a.h:1: a header has #pragma once"});
  CHECK(violations({"base/a.h", "// A.\nint x;\n"}) == Sentences{"base/a.h:1: a header has #pragma once"});
  CHECK(violations({"base/a.cpp", "int x;\n"}).empty());
}

TEST_CASE("a test has a name that ctest can run") {
  const std::string test_case = "TEST_CASE";  // apart, so that this file keeps the rule itself
  CHECK(violations({"tests/a_test.cpp", test_case + "(\"rates add up, exactly\") {}\n"}).empty());
  CHECK(violations({"tests/a_test.cpp", "\n" + test_case + "(\"one; two\") {}\n"}) ==
        Sentences{"tests/a_test.cpp:2: a test's name has none of ;*~\\ and does not begin with -: \"one; two\""});
  CHECK(violations({"tests/a_test.cpp", test_case + "(\"--gpus is one\") {}\n"}).size() == 1);
}

TEST_CASE("one file and one only includes CLI11") {
  const File with = {"cli/parse.cpp", "#include <CLI/CLI.hpp>\n"};
  const File also = {"cli/main.cpp", "#include <CLI/App.hpp>\n"};
  CHECK(violations_together({with}).empty());
  CHECK(violations_together({}) == Sentences{"CLI11 is included by 0 files, not by one: "});
  CHECK(violations_together({with, also}) ==
        Sentences{"CLI11 is included by 2 files, not by one: cli/parse.cpp, cli/main.cpp"});
}

TEST_CASE("no chain of headers leads to SimGrid from outside its room") {
  const File cli = {"cli/parse.cpp", "#include <CLI/CLI.hpp>\n"};
  const File study = {"sim/studies/predict.cpp", "#include \"sim/engine/replay.h\"\n"};
  const File engine = {"sim/engine/replay.cpp", "#include \"sim/engine/simgrid_compat.h\"\n"};
  const File compat = {"sim/engine/simgrid_compat.h", "#include <simgrid/s4u.hpp>\n"};
  const File closed = {"sim/engine/replay.h", "#include <vector>\n"};
  const File leaking = {"sim/engine/replay.h", "#include \"sim/engine/simgrid_compat.h\"\n"};
  CHECK(violations_together({cli, study, engine, compat, closed}).empty());
  CHECK(violations_together({cli, study, engine, compat, leaking}) ==
        Sentences{"SimGrid is reached outside its room: sim/studies/predict.cpp > sim/engine/replay.h > "
                  "sim/engine/simgrid_compat.h > simgrid/s4u.hpp"});
}

TEST_CASE("include directives are found as the compiler finds them") {
  const std::vector<Include> found = includes_of(
      "#include <vector>\n"
      "  #  include \"base/units.h\"  // why\n"
      "// #include <simgrid/s4u.hpp>\n"
      "/* #include <simgrid/s4u.hpp>\n"
      "#include <simgrid/s4u.hpp> */\n"
      "#include <map> /* a\n"
      "b */\n"
      "#include <set>\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0].name == "vector");
  CHECK_FALSE(found[0].quoted);
  CHECK(found[1].name == "base/units.h");
  CHECK(found[1].quoted);
  CHECK(found[1].line == 2);
  CHECK(found[2].name == "map");
  CHECK(found[3].name == "set");
  CHECK(found[3].line == 8);
}
