#include "base/json.h"

#include <nlohmann/json.hpp>

#include "tests/base/thrown.h"
#include "tests/catch.h"

using namespace foretrain;
using foretrain::test::message;

namespace {

// A document and the view of its root.
struct Document {
  explicit Document(std::string_view text) : value(parse_json(text, "job.json")) {}
  Json value;
  [[nodiscard]] JsonView root() const { return JsonView(value, "job.json"); }
};

}  // namespace

TEST_CASE("a view knows its place") {
  const Document job(R"({"training": {"batches": [8, 16]}, "a/b~c": 1})");
  CHECK(job.root().where() == "job.json");
  CHECK(job.root().at("training").where() == "job.json: /training");
  CHECK(job.root().at("training").at("batches").items()[1].where() == "job.json: /training/batches/1");
  CHECK(job.root().at("a/b~c").pointer() == "/a~1b~0c");
}

TEST_CASE("members are found, listed in file order, and missing ones reported") {
  const Document job(R"({"micro_batch": 8, "sequence": 128})");
  CHECK(job.root().find("sequence")->integer(1, 1000) == 128);
  CHECK_FALSE(job.root().find("precision").has_value());
  CHECK(job.root().keys() == std::vector<std::string>{"micro_batch", "sequence"});
  CHECK(message([&] { (void)job.root().at("precision"); }) == R"(job.json: the key "precision" is missing)");
  CHECK(message([&] { (void)job.root().at("micro_batsh"); }) ==
        R"(job.json: the key "micro_batsh" is missing (did you mean "micro_batch"?))");
}

TEST_CASE("an unknown key is reported at its own place, with the nearest or all known keys") {
  const Document job(R"({"training": {"micro_bach": 8}})");
  CHECK(message([&] {
          job.root().at("training").allow_only({"micro_batch", "global_batch"});
        }) == R"(job.json: /training/micro_bach: unknown key "micro_bach" (did you mean "micro_batch"?))");
  CHECK(message([&] {
          job.root().at("training").allow_only({"sequence", "epochs"});
        }) == R"(job.json: /training/micro_bach: unknown key "micro_bach" (one of: sequence, epochs))");
  CHECK_NOTHROW(job.root().at("training").allow_only({"micro_bach"}));
}

TEST_CASE("numbers are checked for type and range") {
  const Document job(R"({"share": 0.5, "zero": 0, "word": "0.5", "big": 1e300, "list": []})");
  const JsonView root = job.root();
  CHECK(root.at("share").number() == 0.5);
  CHECK(root.at("big").number() == 1e300);
  CHECK(root.at("zero").number({0, 1, false}) == 0.0);
  CHECK(message([&] {
          (void)root.at("zero").number({0, 1, true});
        }) == "job.json: /zero: expected a number above 0 and at most 1, found the number 0");
  CHECK(message([&] {
          (void)root.at("word").number({0, 1, false});
        }) == R"(job.json: /word: expected a number from 0 to 1, found the string "0.5")");
  CHECK(message([&] { (void)root.at("list").number(); }) == "job.json: /list: expected a number, found an array");
  CHECK(message([&] { (void)root.at("share").number({.low = 1}); }) ==
        "job.json: /share: expected a number of at least 1, found the number 0.5");
  CHECK(message([&] { (void)root.at("share").number({.low = 1, .above = true}); }) ==
        "job.json: /share: expected a number above 1, found the number 0.5");
  CHECK(message([&] { (void)root.at("share").number({.high = 0.25}); }) ==
        "job.json: /share: expected a number of at most 0.25, found the number 0.5");
}

TEST_CASE("integers are whole, however they are written, and never rounded") {
  const Document job(R"({"count": 8, "samples": 5e6, "part": 3.7, "minus": -1, "huge": 18446744073709551615,
                         "beyond": 1e19})");
  const JsonView root = job.root();
  constexpr std::int64_t largest = INT64_MAX;
  CHECK(root.at("count").integer(1, 8) == 8);
  CHECK(root.at("samples").integer(1, largest) == 5000000);
  CHECK(root.at("minus").integer(-1, 1) == -1);
  CHECK(message([&] { (void)root.at("part").integer(1, 100); }) ==
        "job.json: /part: expected an integer from 1 to 100, found the number 3.7");
  CHECK(message([&] { (void)root.at("minus").integer(0, largest); }) ==
        "job.json: /minus: expected an integer of at least 0, found the number -1");
  CHECK(message([&] { (void)root.at("count").integer(INT64_MIN, 7); }) ==
        "job.json: /count: expected an integer of at most 7, found the number 8");
  CHECK(message([&] { (void)root.at("huge").integer(0, largest); }) ==
        "job.json: /huge: expected an integer of at least 0, found the number 18446744073709551615");
  CHECK(message([&] { (void)root.at("beyond").integer(INT64_MIN, largest); }) ==
        "job.json: /beyond: expected an integer, found the number 1e+19");
}

TEST_CASE("strings, booleans and choices") {
  const Document job(R"({"fast": true, "name": "x", "precision": "fp61", "other": "ternary"})");
  const JsonView root = job.root();
  CHECK(root.at("fast").boolean());
  CHECK(root.at("name").string() == "x");
  CHECK(root.at("name").one_of({"x", "y"}) == "x");
  CHECK(message([&] { (void)root.at("name").boolean(); }) ==
        R"(job.json: /name: expected true or false, found the string "x")");
  CHECK(message([&] { (void)root.at("fast").string(); }) == "job.json: /fast: expected a string, found true");
  CHECK(message([&] {
          (void)root.at("precision").one_of({"fp32", "fp16", "bf16"});
        }) == R"(job.json: /precision: unknown value "fp61" (did you mean "fp16"? one of: fp32, fp16, bf16))");
  CHECK(message([&] {
          (void)root.at("other").one_of({"fp32", "fp16", "bf16"});
        }) == R"(job.json: /other: unknown value "ternary" (one of: fp32, fp16, bf16))");
  CHECK(message([&] {
          (void)root.at("fast").one_of({"fp32", "fp16"});
        }) == "job.json: /fast: expected a string, found true (one of: fp32, fp16)");
}

TEST_CASE("the wrong kind of container is named") {
  const Document job(R"({"list": [1], "word": "w"})");
  CHECK(message([&] { (void)job.root().at("list").find("x"); }) ==
        "job.json: /list: expected an object, found an array");
  CHECK(message([&] { job.root().at("word").allow_only({}); }) ==
        R"(job.json: /word: expected an object, found the string "w")");
  CHECK(message([&] { (void)job.root().items(); }) == "job.json: expected an array, found an object");
}

TEST_CASE("text from a file cannot reach the terminal through a message") {
  const Document job("{\"\\u001b[2J\": 1, \"name\": \"\\u001b]0;title\\u0007\"}");
  CHECK(message([&] { job.root().allow_only({"name"}); }) ==
        R"(job.json: /\x1B[2J: unknown key "\x1B[2J" (one of: name))");
  CHECK(message([&] { (void)job.root().at("name").number(); }) ==
        R"(job.json: /name: expected a number, found the string "\x1B]0;title\x07")");
}
