// Where results go, and that they are always the same.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

const std::string azure = example("handwriting-azure.json");

Json json_of(const std::string& text) { return nlohmann::ordered_json::parse(text); }

}  // namespace

TEST_CASE("each form goes to stdout alone") {
  const Outcome json = foretrain_with({"predict", azure, "--json", "-"});
  CHECK(json.code == 0);
  CHECK(json_of(json.out)["foretrain_result"] == 1);

  const Outcome csv = foretrain_with({"predict", azure, "--csv", "-"});
  CHECK(csv.out.rfind("quantity,value,low,high,unit,provenance\n", 0) == 0);
  CHECK(csv.out.find("A step takes") == std::string::npos);

  const Outcome markdown = foretrain_with({"predict", azure, "--md", "-"});
  CHECK(markdown.out.rfind("# crnn-handwriting\n", 0) == 0);
}

TEST_CASE("several forms in one run agree, beside the text") {
  const TemporaryDirectory folder;
  const std::string json = folder.file("r.json");
  const std::string csv = folder.file("r.csv");
  const Outcome outcome = foretrain_with({"predict", azure, "--json", json, "--csv", csv, "--md", folder.file("r.md")});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("A step takes") == 0);
  const double step = json_of(read_file(json))["prediction"]["step_time"]["value"].get<double>();
  const std::string rows = read_file(csv);
  const std::size_t at = rows.find("\nstep_time,") + 11;
  CHECK(std::stod(rows.substr(at)) == step);
  CHECK(read_file(folder.file("r.md")).find("| step time |") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);  // no temporary files left
}

TEST_CASE("quiet is silent") {
  const Outcome outcome = foretrain_with({"predict", azure, "-q"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
}

TEST_CASE("the same input gives the same bytes") {
  for (const char* form : {"--json", "--csv", "--md"}) {
    CHECK(foretrain_with({"decide", azure, form, "-"}).out == foretrain_with({"decide", azure, form, "-"}).out);
  }
  CHECK(foretrain_with({"decide", azure}).out == foretrain_with({"decide", azure}).out);
  const std::vector<std::string> drawn = {"predict", azure, "--replays", "20", "--seed", "7", "--json", "-"};
  CHECK(foretrain_with(drawn).out == foretrain_with(drawn).out);
}

TEST_CASE("a file and stdin give the same result") {
  Call call;
  call.arguments = {"predict", "-", "--json", "-"};
  call.input = read_file(azure);
  CHECK(run(call).out == foretrain_with({"predict", azure, "--json", "-"}).out);
}

TEST_CASE("the program works from any directory") {
  Call call;
  call.arguments = {"decide", azure, "--json", "-"};
  const std::string here = run(call).out;
  call.directory = "/";
  CHECK(run(call).out == here);
}

TEST_CASE("colour is for terminals, and NO_COLOR is heeded") {
  const std::string escape = "\x1b[";
  Call call;
  call.arguments = {"predict", azure};
  CHECK(run(call).out.find(escape) == std::string::npos);  // a pipe or file

  call.terminal = Call::Terminal::out;
  CHECK(run(call).out.find(escape) != std::string::npos);
  call.environment = {{"NO_COLOR", "1"}};
  CHECK(run(call).out.find(escape) == std::string::npos);
  call.environment = {{"TERM", "dumb"}};
  CHECK(run(call).out.find(escape) == std::string::npos);
  call.environment.clear();
  call.arguments.push_back("--color=never");
  CHECK(run(call).out.find(escape) == std::string::npos);

  CHECK(foretrain_with({"predict", azure, "--color", "always"}).out.find(escape) != std::string::npos);
}

TEST_CASE("progress is for terminals and work of more than a second") {
  Call call;
  call.arguments = {"predict", "--model", "resnet50", "--machine", "p3.16xlarge", "--gpus", "32", "--batch", "64",
                    "--replays", "20000", "--json", "-"};
  call.terminal = Call::Terminal::err;
  const Outcome slow = run(call);
  CHECK(slow.code == 0);
  CHECK(slow.err.find("\r20000 replays: 1 s") != std::string::npos);
  call.arguments = {"predict", azure, "--replays", "2", "--json", "-"};
  CHECK(run(call).err.find("replays:") == std::string::npos);
}

TEST_CASE("flags saved as a scenario give the same prediction") {
  const TemporaryDirectory folder;
  const std::string saved = folder.file("s.json");
  const std::vector<std::string> flags = {"decide", "--model", "resnet50", "--machine", "p3.16xlarge", "--batch", "64",
                                          "--try", "p3.16xlarge:1-2", "--set", "training.precision=fp16"};
  std::vector<std::string> saving = flags;
  saving.insert(saving.end(), {"--save", saved, "--json", "-"});
  const Json of_flags = json_of(foretrain_with(saving).out);
  const Json of_file = json_of(foretrain_with({"decide", saved, "--json", "-"}).out);
  CHECK(of_flags["alternatives"] == of_file["alternatives"]);
  CHECK(of_flags["verdict"] == of_file["verdict"]);
  CHECK(of_flags["alternatives"].size() == 2);
}

TEST_CASE("a catalogue of one's own is named in the result") {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder.file("networks"));
  write_file(folder.file("networks/mine.json"), read_file(source_directory() + "/calibrate/networks/tcp.json"));
  const Json result = json_of(foretrain_with({"predict", azure, "--data", folder.path(), "--json", "-"}).out);
  REQUIRE(result["profiles"].size() == 1);
  CHECK(result["profiles"][0]["kind"] == "networks");
  CHECK(result["profiles"][0]["name"] == "mine");

  Call call;
  call.arguments = {"predict", azure, "--json", "-"};
  call.environment = {{"FORETRAIN_DATA", folder.path()}};
  CHECK(json_of(run(call).out) == result);
}

TEST_CASE("warnings are seen also where the text is not") {
  const std::vector<std::string> retired = {"predict", "--model",     "resnet50", "--machine", "Standard_NC24rs_v3",
                                            "--gpus",  "4",           "--batch",  "64"};
  CHECK(foretrain_with(retired).out.find("Standard_NC96ads_A100_v4") != std::string::npos);  // the successor
  std::vector<std::string> as_json = retired;
  as_json.insert(as_json.end(), {"--json", "-"});
  CHECK(foretrain_with(as_json).err.find("foretrain: warning: ") != std::string::npos);
  as_json.push_back("-q");
  CHECK(foretrain_with(as_json).err.empty());
}
