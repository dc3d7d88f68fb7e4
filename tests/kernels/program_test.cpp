// foretrain-measure as a user runs it. On a machine without a GPU it must say so; on one with a GPU it must answer.
#include <cstdlib>
#include <sstream>
#include <string>

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "tests/base/temporary_directory.h"
#include "tests/catch.h"

using namespace foretrain;

namespace {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

Outcome run(const std::string& arguments) {
  const test::TemporaryDirectory folder;
  const std::string command = "'" FORETRAIN_MEASURE "' " + arguments + " >'" + folder.path("out") + "' 2>'" +
                              folder.path("err") + "' </dev/null";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_file(folder.path("out")), read_file(folder.path("err"))};
}

void check_device(const JsonView& device) {
  CHECK_FALSE(device.at("name").string().empty());
  CHECK(device.at("memory_bytes").integer(1, INT64_MAX) > 0);
  CHECK(device.at("multiprocessors").integer(1, 100000) > 0);
  CHECK(device.at("clock_hertz").number() > 0.0);
  CHECK(device.at("compute_capability").string().find('.') != std::string::npos);
  CHECK(device.at("pci_bus_id").string().find(':') != std::string::npos);
}

}  // namespace

TEST_CASE("foretrain-measure reports its devices, or one sentence and exit code 4") {
  const Outcome outcome = run("");
  if (outcome.exit_code == 4) {
    CHECK(outcome.out.empty());
    CHECK(outcome.err.rfind("foretrain-measure: there is no GPU that can be used (", 0) == 0);
    CHECK(outcome.err.find("; run it on a machine with an NVIDIA GPU and a driver for CUDA ") != std::string::npos);
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    return;
  }
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  std::istringstream lines(outcome.out);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const Json software = parse_json(line, "line 1");
  for (const char* key : {"cuda_runtime", "cuda_driver", "cublaslt", "nccl"}) {
    CHECK(JsonView(software, "line 1").at(key).string().find('.') != std::string::npos);
  }
  int devices = 0;
  for (; std::getline(lines, line); ++devices) {
    const Json device = parse_json(line, "a device");
    check_device(JsonView(device, "a device"));
  }
  CHECK(devices > 0);
}

TEST_CASE("foretrain-measure answers --help and --version anywhere") {
  CHECK(run("--help").exit_code == 0);
  CHECK(run("--help").out.rfind("foretrain-measure reports the CUDA devices", 0) == 0);
  CHECK(run("--version").out.rfind("foretrain-measure ", 0) == 0);
}

TEST_CASE("foretrain-measure refuses what it does not know") {
  const Outcome outcome = run("--gpus 3");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "foretrain-measure: unexpected argument \"--gpus\"; see foretrain-measure --help\n");
}

TEST_CASE("foretrain-measure fails when its answer cannot be written") {
  CHECK(WEXITSTATUS(std::system("'" FORETRAIN_MEASURE "' --help >/dev/full 2>/dev/null")) == 1);
}
