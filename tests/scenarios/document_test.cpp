#include "scenarios/document.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

TEST_CASE("A document remembers where each value was written") {
  Document document(Json::parse(R"({"cluster": {"gpus": 8}})"), "s.json");
  CHECK(document.where("cluster.gpus") == "s.json: /cluster/gpus");
  CHECK(document.where("cluster.vcpus") == "s.json: /cluster/vcpus");
  CHECK_FALSE(document.find("cluster.vcpus"));
  CHECK_FALSE(document.find("plan.tensor"));

  const Json sixteen = 16;
  document.set("cluster.gpus", JsonView(sixteen, "--set cluster.gpus=16"));
  CHECK(document.find("cluster.gpus")->integer(1, 100) == 16);
  CHECK(document.where("cluster.gpus") == "--set cluster.gpus=16");
  CHECK(document.is_changed("cluster.gpus"));

  document.set("plan.tensor", JsonView(sixteen, "s.json", "/options/0/plan.tensor"));
  CHECK(document.where("plan.tensor") == "s.json: /options/0/plan.tensor");

  document.erase("cluster");
  CHECK_FALSE(document.find("cluster.gpus"));
  CHECK(document.where("cluster.gpus") == "s.json: /cluster/gpus");
  document.erase("input.dataset_bytes");  // nothing there: nothing happens
}

TEST_CASE("A copy of a document is on its own") {
  Document document(Json::parse(R"({"name": "a"})"), "s.json");
  const Document before = document;
  const Json b = "b";
  document.set("name", JsonView(b, "--set name=b"));
  CHECK(before.find("name")->string() == "a");
  CHECK_FALSE(before.is_changed("name"));
}

TEST_CASE("Something that is no object on the way is an error at its place") {
  Document document(Json::parse(R"({"cluster": 8})"), "s.json");
  const Json one = 1;
  const Error error = error_of([&] { document.set("cluster.gpus", JsonView(one, "--set cluster.gpus=1")); });
  CHECK_THAT(error.where(), Contains("s.json: /cluster"));
  CHECK_THAT(error_of([&] { static_cast<void>(document.find("cluster.gpus")); }).what(), Contains("object"));
}
