// What goes wrong: one message, the right exit code, nothing on stdout.
#include <filesystem>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

const std::string azure = example("handwriting-azure.json");

struct Mistake {
  std::vector<std::string> arguments;
  std::string message;  // part of stderr
};

void check_refused(const Outcome& outcome, const std::string& message) {
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.rfind("foretrain: error: ", 0) == 0);
  CHECK(outcome.err.find("foretrain: error: ", 1) == std::string::npos);  // one message
  CHECK(outcome.err.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("a mistake on the command line is named, with the nearest right word") {
  const std::vector<Mistake> mistakes = {
      {{"prdict", azure}, "did you mean \"predict\"?"},
      {{"predict", "--modle", "resnet50"}, "did you mean --model?"},
      {{"predict", "--modle=resnet50"}, "unknown option \"--modle\""},
      {{"--jsno", "x"}, "unknown option \"--jsno\""},
      {{"predict", "--try", "DGX A100:1"}, "it belongs to foretrain decide"},
      {{"predict"}, "give a scenario file, or --model, --machine and --batch"},
      {{"predict", azure, "more.json"}, "one argument too many: \"more.json\""},
      {{"predict", azure, "--gpus", "8"}, "write --set cluster.gpus=8"},
      {{"predict", azure, "--step", "0.3"}, "\"measured\""},
      {{"predict", azure, "--save", "x.json"}, "--save writes the scenario of flags"},
      {{"decide", azure, "--try", "DGX A100:1"}, "\"options\""},
      {{"predict", azure, "--replays", "1e3"}, "--replays: \"1e3\" is not a whole number from 0 to 100000"},
      {{"predict", azure, "--replays", "100001"}, "from 0 to 100000"},
      {{"predict", azure, "--seed", "-1"}, "--seed"},
      {{"validate", azure, "--workers", "0"}, "--workers: \"0\" is not a whole number from 1 to 1024"},
      {{"predict", azure, "--replays"}, "--replays: takes exactly one value"},
      {{"predict", azure, "--color", "blue"}, "one of: auto, always, never"},
      {{"predict", azure, "--set", "cluster.gpus"}, "--set"},
      {{"predict", azure, "--set", "cluster.gpsu=8"}, "cluster.gpus"},
      {{"predict", azure, "--json", "-", "--csv", "-"}, "--json and --csv cannot both go to stdout"},
      {{"predict", azure, "--json", azure}, "would overwrite the input"},
      {{"predict", azure, "--json", "/no/such/folder/x"}, "/no/such/folder"},
      {{"predict", azure, "--json", ""}, "an empty file name cannot be written"},
      {{"predict", azure, "--set", "training.precision=fp8"}, azure + ": /training/precision"},
      {{"predict", azure, "--set", "input.samples_per_s_per_vcpu=1e-300"}, "from 0.001"},
      {{"predict", azure, "--set", "plan.sharding=zero9"}, "plan.sharding"},
      {{"predict", azure, "--require", "speedup.value"}, "compares nothing"},
      {{"predict", azure, "--require", "speedup.vlaue>=1"}, "did you mean speedup.value?"},
      {{"predict", azure, "--require", "speedup>=1"}, "write speedup.value, speedup.low or speedup.high"},
      {{"predict", azure, "--data", "/no/such/folder"}, "/no/such/folder"},
      {{"list"}, "one of: models, devices, machines, networks, stacks"},
      {{"list", "machnes"}, "did you mean \"machines\"?"},
      {{"decide", "--model", "resnet50", "--machine", "p3.16xlarge", "--batch", "64"}, "add --try"},
      {{"predict", "--model", "resnt50", "--machine", "p3.16xlarge", "--batch", "64"}, "resnet50"},
      {{"predict", "--model", "resnet50", "--machine", "p3.16xlrge", "--batch", "64"}, "p3.16xlarge"}};
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.message);
    check_refused(foretrain_with(mistake.arguments), mistake.message);
  }
}

TEST_CASE("an unreadable scenario is refused with its name") {
  const TemporaryDirectory folder;
  const std::string binary = folder.file("binary.json");
  write_file(binary, std::string("\x7f" "ELF\0\0\xff\xfe", 8));
  check_refused(foretrain_with({"predict", folder.file("missing.json")}), "missing.json");
  check_refused(foretrain_with({"predict", folder.path()}), "is a directory");
  check_refused(foretrain_with({"predict", binary}), "binary.json");
  check_refused(foretrain_with({"predict", "/dev/null"}), "/dev/null");

  Call truncated;
  truncated.arguments = {"predict", "-"};
  truncated.input = read_file(azure).substr(0, 200);
  check_refused(run(truncated), "standard input:");
}

TEST_CASE("a mistake leaves no output file behind") {
  const TemporaryDirectory folder;
  check_refused(foretrain_with({"predict", azure, "--json", folder.file("r.json"), "--require", "nothing>=1"}),
                "no value \"nothing\"");
  CHECK_FALSE(std::filesystem::exists(folder.file("r.json")));
}

TEST_CASE("a gate that is not met is exit 3, with the result printed") {
  const Outcome outcome = foretrain_with({"predict", azure, "--require", "throughput.value>=1e9"});
  CHECK(outcome.code == 3);
  CHECK(outcome.out.find("A step takes") == 0);
  CHECK(outcome.err.find("foretrain: not met: throughput.value is ") != std::string::npos);
  CHECK(foretrain_with({"predict", azure, "--require", "throughput.value>0", "--require", "nodes==1"}).code == 0);
  CHECK(foretrain_with({"predict", azure, "-q", "--require", "throughput.value<0"}).code == 3);
}

TEST_CASE("what does not fit is an answer, not a failure") {
  const Outcome outcome = foretrain_with(
      {"predict", "--model", "gpt2-xl", "--machine", "p3.16xlarge", "--gpus", "8", "--batch", "64", "--precision", "fp16"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("It does not fit: ") == 0);
}

TEST_CASE("output that cannot be written is a failure") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Outcome outcome = foretrain_with({"predict", azure, "--json", "/dev/full"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("/dev/full") != std::string::npos);
}

TEST_CASE("Ctrl-C ends with 130") {
  // The program waits for stdin; it is interrupted there. One that has not reached main yet dies of the
  // signal itself, so a slow machine gets longer.
  Call call;
  call.arguments = {"predict", "-"};
  Outcome outcome;
  for (int wait = 250; wait <= 8000; wait *= 2) {
    call.interrupt_after_milliseconds = wait;
    outcome = run(call);
    if (outcome.code < 1000) break;
  }
  CHECK(outcome.code == 130);
  CHECK(outcome.out.empty());
}
