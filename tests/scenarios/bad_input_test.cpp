// Bad input: the shipped example with one thing wrong, at every place, in every way.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "scenarios/reader.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

struct Leaf {
  Json::json_pointer pointer;
  std::string text;  // of the pointer
  Json value;
};

std::string escaped(std::string key) {
  std::string token;
  for (const char c : key) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return token;
}

void collect(const Json& json, const std::string& pointer, std::vector<Leaf>& leaves,
             std::vector<std::string>& objects) {
  if (json.is_object()) {
    objects.push_back(pointer);
    for (const auto& [key, value] : json.items()) collect(value, pointer + "/" + escaped(key), leaves, objects);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) collect(json[i], pointer + "/" + std::to_string(i), leaves, objects);
  } else {
    leaves.push_back({Json::json_pointer(pointer), pointer, json});
  }
}

struct Example {
  Json json;
  std::vector<Leaf> leaves;
  std::vector<std::string> objects;
};

// The measured example and a section of every kind, so that every leaf of the format has a turn.
Example rich_example() {
  Example example;
  example.json =
      parse_json(read_file(FORETRAIN_SOURCE_DIR "/scenarios/examples/handwriting-azure-measured.json"), "example");
  example.json["training"]["global_batch"] = 64;
  example.json["training"]["sequence"] = 0;
  example.json["stack"]["options"] = {{"bucket_bytes", 26214400}};
  example.json["cluster"].update(Json::parse(R"({"gpu": "A100-PCIE-80GB", "gpus_per_node": 1, "intra_node": "none",
    "intra_node_gbytes_per_s": 300, "nics_per_node": 1, "inter_node_gbits_per_s": 80, "network": "tcp",
    "network_achieved_fraction": 0.8, "vcpus": 24, "price_usd_per_hour": 3.67, "nodes_per_leaf": 4, "oversubscription": 2,
    "straggler_slowdown": 1.1})"));
  example.json["plan"] = Json::parse(R"({"tensor": 1, "pipeline": 1, "context": 1, "expert": 1, "sharding": "none",
    "recompute": "none", "schedule": "1f1b", "interleave": 1})");
  example.json["input"].update(Json::parse(R"({"storage_gbytes_per_s": 1.0, "dataset_bytes": 4e11})"));
  example.json["measured"][0].update(Json::parse(R"({"machine": "Standard_NC24ads_A100_v4", "micro_batch": 64})"));
  example.json["options"].push_back(
      Json::parse(R"({"stack.options.bucket_bytes": [1000000, 2000000], "model.lstm_hidden": 512})"));
  collect(example.json, "", example.leaves, example.objects);
  return example;
}

// The text of the example with the leaf at `pointer` written as `literal`.
std::string with_literal(const Example& example, const Leaf& leaf, const std::string& literal) {
  Json changed = example.json;
  changed[leaf.pointer] = "@literal@";
  std::string text = changed.dump(1);
  text.replace(text.find("\"@literal@\""), 11, literal);
  return text;
}

bool is_free_text(const Leaf& leaf) { return leaf.text == "/name"; }

void check_error(const Error& error, const std::string& pointer) {
  CHECK_FALSE(std::string(error.what()).empty());
  CHECK(error.code() == ExitCode::usage);
  CHECK_THAT(error.where(), Contains("s.json: " + pointer));
}

}  // namespace

TEST_CASE("The example that is mutated is read as it stands") {
  const Example example = rich_example();
  CHECK(example.leaves.size() > 50);
  CHECK(read(example.json.dump()).options.size() == 9);
}

TEST_CASE("A leaf of the wrong type or far out of range is an error at its pointer") {
  const Example example = rich_example();
  for (const Leaf& leaf : example.leaves) {
    std::vector<std::string> literals = {"-1", "-0.5", "1e300", "-1e300", "true", "[]", "{}", "[[1]]", "{\"a\": 1}"};
    if (leaf.value.is_number()) literals.insert(literals.end(), {"\"64\"", "\"\"", "1e25"});
    if (leaf.value.is_string() && !is_free_text(leaf))
      literals.insert(literals.end(), {"\"no such name\"", "\"\"", "64"});
    for (const std::string& literal : literals) {
      INFO(leaf.text << " = " << literal);
      check_error(read_error(with_literal(example, leaf, literal)), leaf.text);
    }
  }
}

TEST_CASE("null, numbers beyond a double and denormal ones are errors at their line") {
  const Example example = rich_example();
  for (const Leaf& leaf : example.leaves) {
    for (const std::string literal :
         {"null", "1e400", "-1e400", "1e-310", "4.9e-324", "NaN", "Infinity", "0x10", "1.", "01"}) {
      INFO(leaf.text << " = " << literal);
      const Error error = read_error(with_literal(example, leaf, literal));
      CHECK_THAT(error.where(), Contains("s.json:"));
      CHECK(std::count(error.where().begin(), error.where().end(), ':') == 2);  // s.json:line:column
    }
  }
}

TEST_CASE("A fraction where a whole number belongs is an error") {
  const Example example = rich_example();
  for (const std::string pointer :
       {"/training/micro_batch", "/training/global_batch", "/cluster/gpus", "/cluster/vcpus", "/plan/tensor",
        "/measured/0/gpus", "/options/0/cluster.gpus/0"}) {
    const Leaf leaf{Json::json_pointer(pointer), pointer, {}};
    INFO(pointer);
    check_error(read_error(with_literal(example, leaf, "1.5")), pointer);
  }
}

TEST_CASE("Zero is an error where nothing can be zero") {
  const Example example = rich_example();
  for (const std::string pointer :
       {"/training/micro_batch", "/cluster/gpus", "/cluster/gpus_per_node", "/cluster/inter_node_gbits_per_s",
        "/cluster/intra_node_gbytes_per_s", "/cluster/network_achieved_fraction", "/cluster/vcpus", "/plan/tensor",
        "/input/samples_per_s_per_vcpu", "/input/storage_gbytes_per_s", "/measured/0/step_seconds",
        "/options/0/cluster.gpus/0"}) {
    const Leaf leaf{Json::json_pointer(pointer), pointer, {}};
    INFO(pointer);
    check_error(read_error(with_literal(example, leaf, "0")), pointer);
  }
}

TEST_CASE("An unknown key in any object is an error that names it") {
  const Example example = rich_example();
  for (const std::string& object : example.objects) {
    Json changed = example.json;
    changed[Json::json_pointer(object)]["no_such_key"] = 1;
    INFO(object);
    check_error(read_error(changed.dump()), object + "/no_such_key");
  }
}

TEST_CASE("A misspelt key in any object is an error that suggests it") {
  const Example example = rich_example();
  for (const Leaf& leaf : example.leaves) {
    const std::string key = leaf.pointer.back();
    const std::string parent = leaf.pointer.parent_pointer().to_string();
    if (!example.json[leaf.pointer.parent_pointer()].is_object()) continue;
    Json changed = example.json;
    Json& object = changed[leaf.pointer.parent_pointer()];
    object.erase(key);
    object[key + "x"] = leaf.value;
    INFO(leaf.text);
    const Error error = read_error(changed.dump());
    if (leaf.text == "/foretrain") continue;  // asked for by name before anything else
    CHECK_THAT(error.where(), Contains("s.json: " + parent + "/" + escaped(key) + "x"));
    CHECK_THAT(error.hint(), Contains(key.substr(key.rfind('.') + 1)));
  }
}

TEST_CASE("A key that occurs twice is an error") {
  const Example example = rich_example();
  for (const std::string& object : example.objects) {
    Json changed = example.json;
    Json& target = changed[Json::json_pointer(object)];
    const std::string key = target.begin().key();
    target["@twice@"] = 1;
    std::string text = changed.dump();
    text.replace(text.find("\"@twice@\""), 9, Json(key).dump());
    INFO(object);
    const Error error = read_error(text);
    CHECK_THAT(error.what(), Contains("twice") && Contains(key));
    CHECK_THAT(error.where(), Contains("s.json:1:"));
  }
}

TEST_CASE("A key in another unit says which unit is meant") {
  const Example example = rich_example();
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"/cluster/inter_node_gbits_per_s", "inter_node_gbytes_per_s"},
      {"/cluster/inter_node_gbits_per_s", "inter_node_gbps"},
      {"/cluster/intra_node_gbytes_per_s", "intra_node_gbits_per_s"},
      {"/cluster/price_usd_per_hour", "price_eur_per_hour"},
      {"/input/storage_gbytes_per_s", "storage_mb_s"},
      {"/input/dataset_bytes", "dataset_gb"},
      {"/measured/0/step_seconds", "step_ms"}};
  for (const auto& [pointer, key] : wrong) {
    Json changed = example.json;
    const Json::json_pointer at(pointer);
    changed[at.parent_pointer()].erase(at.back());
    changed[at.parent_pointer()][key] = 1;
    INFO(pointer << " as " << key);
    const Error error = read_error(changed.dump());
    CHECK_THAT(error.where(), Contains(at.parent_pointer().to_string() + "/" + key));
    CHECK_THAT(error.hint(), Contains(at.back()) && Contains("convert"));
  }
}

TEST_CASE("A file cut off anywhere is an error with its line") {
  const std::string text = example_text();
  const std::size_t end = text.rfind('}');
  for (std::size_t length = 0; length <= end; length += 7) {
    INFO(length << " bytes");
    CHECK_THAT(read_error(text.substr(0, length)).where(), Contains("s.json:"));
  }
  CHECK_THAT(read_error(text.substr(0, end)).where(), Contains("s.json:"));
}

TEST_CASE("What is no JSON text is an error") {
  for (const std::string& text :
       {std::string(), std::string("\n"),
        std::string("\x7f"
                    "ELF\0\1",
                    6),
        std::string("\xff\xfe{\0}\0", 6), std::string("{\"foretrain\": 1, \"name\": \"\xc3\x28\"}"),
        std::string("foretrain: 1\n"), std::string("{}}"), std::string("{'foretrain': 1}"),
        std::string("{\"foretrain\": 1,}")}) {
    CHECK_THAT(read_error(text).where(), Contains("s.json"));
  }
}

TEST_CASE("Deep nesting is an error, not a crash") {
  const std::string deep(10000, '[');
  CHECK_THAT(read_error(deep).what(), Contains("nested"));
  CHECK_THAT(read_error(small_scenario("", R"(, "options": )" + deep)).where(), Contains("s.json:1:"));
  std::string objects;
  for (int i = 0; i < 10000; ++i) objects += R"({"a":)";
  CHECK_THAT(read_error(objects).what(), Contains("nested"));
}

TEST_CASE("A file of operators that is missing, a directory or binary is an error") {
  const auto with_operators = [](const std::string& name) {
    return R"({"foretrain": 1, "model": {"operators": )" + Json(name).dump() +
           R"(}, "training": {"micro_batch": 1}, "cluster": {"machine": "DGX A100"}})";
  };
  CHECK_THAT(read_error(with_operators("no-such-file.json")).where(), Contains("no-such-file.json"));
  CHECK_THAT(read_error(with_operators(".")).where(), Contains("tests/scenarios"));
  CHECK_THAT(read_error(with_operators("-")).where(), Contains("/model/operators"));
}

TEST_CASE("Text from a file is shown, not played on the terminal") {
  const Error error = read_error(small_scenario(R"(, "\u001b[31mred": 1)"));
  CHECK(std::string(error.what()).find('\x1b') == std::string::npos);
  CHECK(error.where().find('\x1b') == std::string::npos);
}
