#include "kernels/arguments.h"

#include "tests/catch.h"

using namespace foretrain::kernels;

TEST_CASE("without arguments the devices are reported") { CHECK(parse_arguments({}).action == Action::report_devices); }

TEST_CASE("help and version stand alone") {
  CHECK(parse_arguments({"--help"}).action == Action::help);
  CHECK(parse_arguments({"-h"}).action == Action::help);
  CHECK(parse_arguments({"--version"}).action == Action::version);
  CHECK(help_text().find("Exit codes: 0 done, 1 failed, 2 wrong usage, 4 no GPU that can be used.") !=
        std::string::npos);
  CHECK(version_text().rfind("foretrain-measure ", 0) == 0);
}

TEST_CASE("anything else is a usage error that names the argument") {
  const Arguments unknown = parse_arguments({"--gpus"});
  CHECK(unknown.action == Action::bad_usage);
  CHECK(unknown.problem == "unexpected argument \"--gpus\"; see foretrain-measure --help");
  CHECK(parse_arguments({"--help", "gemm"}).problem == "unexpected argument \"gemm\"; see foretrain-measure --help");
  CHECK(parse_arguments({""}).action == Action::bad_usage);
  CHECK(parse_arguments({"\x1b[2J"}).problem == "unexpected argument \"?[2J\"; see foretrain-measure --help");
}
