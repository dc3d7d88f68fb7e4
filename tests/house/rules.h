// The rules of the house, as functions of a file's name and text: who may include whom, what headers look like.
//
// The table is the design's: base <- models <- calibrate <- sim <- {scenarios, reports} <- cli; kernels stand alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::house {

// A source file; `path` is relative to the source tree ("sim/engine/replay.cpp").
struct File {
  std::string path;
  std::string text;
};

struct Include {
  int line = 0;
  std::string name;     // "sim/job.h"
  bool quoted = false;  // "..." rather than <...>
};

// The #include directives of a text, comments left out.
[[nodiscard]] std::vector<Include> includes_of(std::string_view text);

// What one file breaks, one sentence each, beginning "path:line: ".
[[nodiscard]] std::vector<std::string> violations(const File& file);

// What only all files together can break: CLI11 is compiled in exactly one place, and no chain of includes leads from
// outside sim/engine to SimGrid.
[[nodiscard]] std::vector<std::string> violations_together(const std::vector<File>& files);

// Every .h, .cpp and .cu of the rooms and their tests under `root`, by path.
[[nodiscard]] std::vector<File> source_files(const std::string& root);

}  // namespace foretrain::house
