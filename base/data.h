// Shipped data: the catalogue files that are compiled into the program, and a directory that overlays them.
//
// A file is known by kind and name: ("machines", "azure") is calibrate/machines/azure.json. With an
// overlay (--data DIR or FORETRAIN_DATA), DIR/machines/*.json replace files of the same name and add others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

// One embedded file; CMake generates the table (cmake/EmbedData.cmake).
struct EmbeddedFile {
  std::string_view kind;  // "devices", "machines", "networks", "stacks", "collectives", "track_record",
                          // "interval_factors", "zoo", "corpus"
  std::string_view name;  // without .json
  std::string_view text;
};
[[nodiscard]] const std::vector<EmbeddedFile>& embedded_files();

struct DataFile {
  std::string name;    // without .json
  std::string source;  // how messages name it: "machines/azure.json (built in)" or the overlay's path
  std::string text;
};

class DataStore {
 public:
  // `overlay` empty: built-in files only. Throws Error when it is not a directory.
  explicit DataStore(std::string overlay = {});
  // All files of one kind, by name, the overlay's in place of the built-in of the same name.
  [[nodiscard]] std::vector<DataFile> files(std::string_view kind) const;
  [[nodiscard]] const std::string& overlay() const { return overlay_; }

 private:
  std::string overlay_;
};

}  // namespace foretrain
