// Arguments: what the command line said, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/reader.h"

namespace foretrain::cli {

enum class Colour { automatic, always, never };

struct Arguments {
  std::string command;  // "predict", …; empty when none was given
  std::string subject;  // the scenario file or "-"; for list the kind; for init the file to write

  std::vector<std::string> files;  // of measured runs; "-" is stdin

  scenarios::QuickScenario quick;  // flags that stand in for a scenario file
  std::string save;                // where the scenario of those flags goes
  std::vector<std::string> set;
  std::vector<std::string> require;
  std::string gate;  // file of bars for a validation

  bool fold = true;
  int replays = 0;
  std::uint64_t seed = 1;
  std::size_t top = 20;  // 0 = all
  unsigned workers = 0;  // processes; 0 = one per core

  std::string track_record, interval_factors;  // paths, as the next
  std::string trace;
  std::string json, csv, markdown;  // paths, "-" is stdout, empty = not wanted
  bool quiet = false;
  std::string data;  // directory that overlays the catalogue
  Colour colour = Colour::automatic;
};

}  // namespace foretrain::cli
