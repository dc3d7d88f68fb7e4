#include <sstream>

#include "base/files.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::cli;
using namespace foretrain::test;

namespace {

// Words of an example, single quotes taken as a shell does; stops at a redirection.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoting = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoting = !quoting;
    } else if (c == ' ' && !quoting) {
      if (word == ">") return words;
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return words;
}

Arguments parsed(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data()).arguments;
}

// The files that examples name: what init writes, some of the published curves, and a bar.
void write_example_files(const std::string& command, const TemporaryDirectory& folder) {
  if (command != "init") REQUIRE(foretrain_with({"init", folder.file("scenario.json")}).code == 0);
  std::istringstream curves(read_file(source_directory() + "/tests/truth/speedup_families.csv"));
  std::string families, line;
  for (int lines = 0; lines < 6 && std::getline(curves, line); ++lines) families += line + '\n';
  write_file(folder.file("families.csv"), families);
  write_file(folder.file("launch.sh"), read_file(source_directory() + "/tests/scenarios/fixtures/launch.sh"));
  write_file(folder.file("gate.json"), R"({"overall.mape": {"max": 1}})");
}

}  // namespace

TEST_CASE("help leads with examples and fits 100 columns") {
  for (const CommandHelp& help : command_help()) {
    INFO(help.name);
    const Outcome outcome = foretrain_with({help.name, "--help"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    const std::size_t examples = outcome.out.find("Examples:");
    CHECK(examples < outcome.out.find("Usage:"));
    CHECK(outcome.out.find("Usage:") < outcome.out.find("--color"));
    for (const std::string& example_line : help.examples) CHECK(outcome.out.find(example_line) != std::string::npos);
    std::istringstream lines(outcome.out);
    std::string line;
    while (std::getline(lines, line)) {
      INFO(line);
      CHECK((display_width(line) <= 100 || line.find("  foretrain ") == 0));
    }
  }
}

TEST_CASE("every example of the help is a valid command line") {
  for (const CommandHelp& help : command_help()) {
    for (const std::string& line : help.examples) {
      INFO(line);
      CHECK(parsed(words_of(line)).command == help.name);
    }
  }
}

TEST_CASE("every example of the help runs as it stands") {
  for (const CommandHelp& help : command_help()) {
    const TemporaryDirectory folder;
    write_example_files(help.name, folder);
    for (const std::string& line : help.examples) {
      INFO(line);
      const Outcome outcome = in_shell(line, folder.path());
      INFO(outcome.err);
      // A bar that is not met is an answer, too.
      CHECK((outcome.code == 0 || (outcome.code == 3 && line.find("--require") != std::string::npos)));
    }
  }
}

TEST_CASE("foretrain alone says what to type next") {
  const Outcome outcome = foretrain_with({});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("foretrain decide scenario.json") != std::string::npos);
  CHECK(outcome.out.find("foretrain COMMAND --help") != std::string::npos);
}

TEST_CASE("the version is one line") {
  CHECK(foretrain_with({"--version"}).out == "foretrain " FORETRAIN_VERSION "\n");
}

TEST_CASE("flags reach their values") {
  const Arguments a = parsed({"foretrain", "decide", "--model", "resnet50", "--machine", "DGX A100", "--gpus", "16", "--batch",
                              "64", "--try", "a:1-4,b:2", "--try", "c:1", "--set", "a.b=1", "--set", "c.d=[1,2]",
                              "--require", "x>=1", "--no-fold", "--replays", "200", "--seed", "18446744073709551615",
                              "--json", "-", "--md", "m", "-q", "--color=never"});
  CHECK(a.command == "decide");
  CHECK(a.quick.model == "resnet50");
  CHECK(a.quick.machine == "DGX A100");
  CHECK(a.quick.try_machines == std::vector<std::string>{"a:1-4,b:2", "c:1"});
  CHECK(a.set == std::vector<std::string>{"a.b=1", "c.d=[1,2]"});
  CHECK(a.require == std::vector<std::string>{"x>=1"});
  CHECK_FALSE(a.fold);
  CHECK(a.replays == 200);
  CHECK(a.seed == 18446744073709551615U);
  CHECK(a.json == "-");
  CHECK(a.markdown == "m");
  CHECK(a.quiet);
  CHECK(a.colour == Colour::never);
  CHECK(a.subject.empty());
}

TEST_CASE("a repeatable flag does not eat the scenario") {
  const Arguments a = parsed({"foretrain", "predict", "--set", "cluster.gpus=8", "s.json", "--json", "-"});
  CHECK(a.subject == "s.json");
  CHECK(a.set == std::vector<std::string>{"cluster.gpus=8"});
  CHECK(parsed({"foretrain", "predict", "-"}).subject == "-");
}
