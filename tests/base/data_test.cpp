#include "base/data.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/base/temporary_directory.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"

using namespace foretrain;
using foretrain::test::TemporaryDirectory;

namespace {

std::vector<std::string> names(const std::vector<DataFile>& files) {
  std::vector<std::string> result;
  for (const DataFile& file : files) result.push_back(file.name);
  return result;
}

}  // namespace

TEST_CASE("every file of the catalogue is compiled in and is JSON") {
  REQUIRE_FALSE(embedded_files().empty());
  for (const EmbeddedFile& file : embedded_files()) {
    CAPTURE(file.kind, file.name);
    CHECK(parse_json(file.text, std::string(file.name)).is_object());
  }
}

TEST_CASE("built-in files are listed by name and say that they are built in") {
  const EmbeddedFile& first = embedded_files().front();
  const std::vector<DataFile> files = DataStore().files(first.kind);
  const std::vector<std::string> listed = names(files);
  CHECK(std::is_sorted(listed.begin(), listed.end()));
  const auto it = std::find(listed.begin(), listed.end(), first.name);
  REQUIRE(it != listed.end());
  const DataFile& file = files[static_cast<std::size_t>(it - listed.begin())];
  CHECK(file.text == first.text);
  CHECK(file.source == std::string(first.kind) + "/" + std::string(first.name) + ".json (built in)");
}

TEST_CASE("a kind that nobody ships has no files") { CHECK(DataStore().files("unheard-of").empty()); }

TEST_CASE("an overlay replaces files of the same name and adds others") {
  const EmbeddedFile& first = embedded_files().front();
  const std::string kind(first.kind);
  const TemporaryDirectory folder;
  folder.add(kind + "/" + std::string(first.name) + ".json", "{\"replaced\": true}");
  folder.add(kind + "/zz-mine.json", "{\"mine\": true}");
  folder.add(kind + "/notes.txt", "not data");
  const DataStore store(folder.path());
  CHECK(store.overlay() == folder.path());
  const std::vector<DataFile> files = store.files(kind);
  CHECK(files.size() == DataStore().files(kind).size() + 1);
  CHECK(files.back().name == "zz-mine");
  CHECK(files.back().source == folder.path(kind + "/zz-mine.json"));
  const auto replaced =
      std::find_if(files.begin(), files.end(), [&](const DataFile& file) { return file.name == first.name; });
  REQUIRE(replaced != files.end());
  CHECK(replaced->text == "{\"replaced\": true}");
}

TEST_CASE("an overlay without a kind's folder changes nothing of that kind") {
  const TemporaryDirectory folder;
  const std::string kind(embedded_files().front().kind);
  CHECK(names(DataStore(folder.path()).files(kind)) == names(DataStore().files(kind)));
}

TEST_CASE("an overlay must be a directory") {
  CHECK(test::message([] { (void)DataStore("/no/such/place"); }) ==
        "/no/such/place: the data directory does not exist or is no directory (--data and FORETRAIN_DATA name a "
        "directory with folders such as machines/ and devices/)");
}
