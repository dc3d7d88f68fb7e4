#include "base/data.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace foretrain {

namespace fs = std::filesystem;

DataStore::DataStore(std::string overlay) : overlay_(std::move(overlay)) {
  std::error_code error;
  if (!overlay_.empty() && !fs::is_directory(overlay_, error)) {
    throw Error("the data directory does not exist or is no directory", printable(overlay_),
                "--data and FORETRAIN_DATA name a directory with folders such as machines/ and devices/");
  }
}

std::vector<DataFile> DataStore::files(std::string_view kind) const {
  std::map<std::string, DataFile> by_name;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.kind != kind) continue;
    by_name[std::string(file.name)] = {std::string(file.name), fmt::format("{}/{}.json (built in)", kind, file.name),
                                       std::string(file.text)};
  }
  const fs::path folder = fs::path(overlay_) / kind;
  std::error_code error;
  if (!overlay_.empty() && fs::is_directory(folder, error)) {
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() != ".json") continue;
      const std::string name = it->path().stem().string();
      by_name[name] = {name, printable(it->path().string()), read_file(it->path().string())};
    }
    if (error) throw Error("cannot be read: " + error.message(), printable(folder.string()));
  }
  std::vector<DataFile> result;
  result.reserve(by_name.size());
  for (auto& [name, file] : by_name) result.push_back(std::move(file));
  return result;
}

}  // namespace foretrain
