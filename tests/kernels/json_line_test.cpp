#include "kernels/json_line.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/catch.h"

using foretrain::kernels::JsonLine;

TEST_CASE("members stand in the order they were given, on one line") {
  CHECK(JsonLine().text("name", "T4").integer("memory_bytes", 15843721216).number("rate", 320.064).line() ==
        "{\"name\": \"T4\", \"memory_bytes\": 15843721216, \"rate\": 320.064}\n");
  CHECK(JsonLine().line() == "{}\n");
}

TEST_CASE("whatever a driver answers stays JSON") {
  const std::string line = JsonLine().text("name", "a\"b\\c\n\x01\x7f\xff").line();
  CHECK(line == "{\"name\": \"a\\\"b\\\\c\\u000a\\u0001??\"}\n");
  CHECK(foretrain::parse_json(line, "line")["name"].get<std::string>() == "a\"b\\c\n\x01??");
}

TEST_CASE("numbers keep nine digits") {
  CHECK(JsonLine().number("clock_hertz", 1.98e9).line() == "{\"clock_hertz\": 1.98e+09}\n");
  CHECK(foretrain::parse_json(JsonLine().number("x", 1593.123456).line(), "line")["x"].get<double>() ==
        Approx(1593.123456).epsilon(5e-9));
}
