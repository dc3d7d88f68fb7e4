// The examples of docs/models.md are files that foretrain reads.
#include "base/files.h"
#include "models/model.h"
#include "tests/base/temporary_directory.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;

namespace {

// The fenced JSON blocks of docs/models.md, in order.
std::vector<std::string> json_blocks() {
  const std::string page = read_file(FORETRAIN_SOURCE_DIR "/docs/models.md");
  const std::string opening = "```json\n", closing = "```";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(opening); at != std::string::npos; at = page.find(opening, at)) {
    const std::size_t begin = at + opening.size();
    at = page.find(closing, begin);
    blocks.push_back(page.substr(begin, at - begin));
  }
  return blocks;
}

}  // namespace

TEST_CASE("the examples of the documentation build what it says") {
  const std::vector<std::string> blocks = json_blocks();
  REQUIRE(blocks.size() == 2);

  const test::TemporaryDirectory directory;
  directory.add("zoo/resnet101.json", blocks[0]);
  const DataStore data(directory.path());
  for (const ZooEntry& entry : zoo_entries(data)) {
    if (entry.name != "resnet101") continue;
    CHECK(entry.parameters == entry.published_parameters);
    CHECK(entry.forward_flops.value == Approx(entry.published_forward_flops).epsilon(0.01));
  }
  ModelSource by_alias;
  by_alias.name = "ResNet-101-v1.5";
  CHECK(build_model(by_alias, {1, 0}, data).name == "resnet101");

  const Model list = test::operator_list(blocks[1], 4);
  CHECK(list.layers.size() == 4);
  CHECK(parameter_count(list) == 8 * 9 + 8 + 62720 + 10);
}
