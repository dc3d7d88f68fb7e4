#include "tests/house/rules.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>

namespace foretrain::house {

namespace fs = std::filesystem;

namespace {

// What the files of a folder may include from the house: patterns of paths, in which * is any text without a slash
// and ** any text. The first folder that a path begins with decides.
struct Room {
  std::string_view folder;
  std::vector<std::string_view> allowed;
};

const std::vector<Room>& rooms() {
  static const std::vector<Room> table = {
      {"base/", {"base/**"}},
      {"models/", {"models/**", "base/**"}},
      {"calibrate/", {"calibrate/**", "models/**", "base/**"}},
      {"kernels/", {"kernels/**", "base/**"}},
      {"sim/", {"sim/**", "calibrate/**", "models/**", "base/**"}},
      {"scenarios/", {"scenarios/**", "sim/*", "calibrate/**", "models/**", "base/**"}},
      {"reports/", {"reports/**", "sim/*", "base/**"}},
      {"cli/", {"cli/**", "reports/**", "scenarios/**", "sim/**", "calibrate/**", "models/**", "base/**"}},
      {"tests/", {"**"}},
  };
  return table;
}

// Libraries that one place alone may see: who includes a header beginning so must match one of the patterns.
struct Confined {
  std::string_view library;
  std::string_view header_start;
  std::vector<std::string_view> allowed_in;
};

const std::vector<Confined>& confined_libraries() {
  static const std::vector<Confined> table = {
      {"SimGrid", "simgrid/", {"sim/engine/*.cpp", "sim/engine/simgrid_compat.h"}},
      {"SimGrid", "xbt/", {"sim/engine/*.cpp", "sim/engine/simgrid_compat.h"}},
      {"CUDA", "cuda", {"kernels/*.cu"}},
      {"cuBLASLt", "cublas", {"kernels/*.cu"}},
      {"NCCL", "nccl", {"kernels/*.cu"}},
      {"CLI11", "CLI/", {"cli/*.cpp"}},
      {"nlohmann's whole JSON header", "nlohmann/json.hpp", {"**.cpp"}},
      {"Catch2", "catch2/", {"tests/catch.h", "tests/catch_main.cpp"}},
  };
  return table;
}

bool matches(std::string_view path, std::string_view pattern) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() != '*') {
    return !path.empty() && path.front() == pattern.front() && matches(path.substr(1), pattern.substr(1));
  }
  const bool any_depth = pattern.size() > 1 && pattern[1] == '*';
  const std::string_view rest = pattern.substr(any_depth ? 2 : 1);
  for (std::size_t taken = 0;; ++taken) {
    if (matches(path.substr(taken), rest)) return true;
    if (taken == path.size() || (!any_depth && path[taken] == '/')) return false;
  }
}

bool matches_any(std::string_view path, const std::vector<std::string_view>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](std::string_view pattern) { return matches(path, pattern); });
}

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool is_header(const File& file) { return fs::path(file.path).extension() == ".h"; }

void check_include(const File& file, const Include& include, std::vector<std::string>& found) {
  const std::string place = fmt::format("{}:{}: ", file.path, include.line);
  for (const Confined& library : confined_libraries()) {
    if (begins_with(include.name, library.header_start) && !matches_any(file.path, library.allowed_in)) {
      found.push_back(fmt::format("{}{} is for {} only", place, library.library, fmt::join(library.allowed_in, ", ")));
    }
  }
  if (!include.quoted) return;
  const auto room = std::find_if(rooms().begin(), rooms().end(),
                                 [&](const Room& candidate) { return begins_with(file.path, candidate.folder); });
  if (room == rooms().end()) {
    found.push_back(place + "this folder is no room of the house");
  } else if (!matches_any(include.name, room->allowed)) {
    found.push_back(fmt::format("{}{} may not include \"{}\"", place, room->folder, include.name));
  } else if (include.name.find('/') == std::string::npos) {
    found.push_back(fmt::format("{}\"{}\" is not written from the top of the tree", place, include.name));
  }
}

// The text with comments blanked out, line breaks kept. (Literals holding "//" lose their end: includes have none.)
std::string without_comments(std::string_view text) {
  std::string result(text);
  for (std::size_t at = 0; at + 1 < result.size(); ++at) {
    if (result[at] != '/' || (result[at + 1] != '/' && result[at + 1] != '*')) continue;
    const bool block = result[at + 1] == '*';
    const std::size_t end = std::min(result.find(block ? "*/" : "\n", at + (block ? 2 : 0)), result.size());
    const std::size_t stop = std::min(block ? end + 2 : end, result.size());
    for (; at < stop; ++at) {
      if (result[at] != '\n') result[at] = ' ';
    }
    --at;
  }
  return result;
}

// ctest runs each test by its name, and CMake's and Catch's punctuation in a name makes it run nothing and pass.
void check_test_names(const File& file, std::vector<std::string>& found) {
  static const std::regex test_case(R"re(TEST_CASE\("((?:[^"\\]|\\.)*)")re");
  for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), test_case); it != std::sregex_iterator();
       ++it) {
    const std::string name = (*it)[1].str();
    if (name.find_first_of(";*~\\") == std::string::npos && name.front() != '-') continue;
    const auto line = 1 + std::count(file.text.begin(), file.text.begin() + it->position(), '\n');
    found.push_back(
        fmt::format("{}:{}: a test's name has none of ;*~\\ and does not begin with -: \"{}\"", file.path, line, name));
  }
}

// The includes that lead from `path` to SimGrid, ends included; empty when none do. Breadth first: the shortest way.
std::vector<std::string> way_to_simgrid(const std::string& path,
                                        const std::map<std::string, std::vector<Include>>& includes) {
  std::map<std::string, std::string> reached_from = {{path, ""}};
  std::deque<std::string> open = {path};
  while (!open.empty()) {
    const std::string current = open.front();
    open.pop_front();
    if (begins_with(current, "simgrid/")) {
      std::vector<std::string> chain;
      for (std::string step = current; !step.empty(); step = reached_from[step]) chain.insert(chain.begin(), step);
      return chain;
    }
    const auto own = includes.find(current);
    if (own == includes.end()) continue;
    for (const Include& include : own->second) {
      if (reached_from.try_emplace(include.name, current).second) open.push_back(include.name);
    }
  }
  return {};
}

}  // namespace

std::vector<Include> includes_of(std::string_view text) {
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*$)");
  std::vector<Include> found;
  std::istringstream lines(without_comments(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch parts;
    if (std::regex_match(line, parts, directive)) found.push_back({number, parts[2].str(), parts[1].str() == "\""});
  }
  return found;
}

std::vector<std::string> violations(const File& file) {
  std::vector<std::string> found;
  check_test_names(file, found);
  for (const Include& include : includes_of(file.text)) check_include(file, include, found);
  if (is_header(file)) {
    if (!begins_with(file.text, "// ")) {
      found.push_back(file.path + ":1: a header begins with a comment that says what it is");
    }
    if (file.text.find("\n#pragma once\n") == std::string::npos) {
      found.push_back(file.path + ":1: a header has #pragma once");
    }
  }
  return found;
}

std::vector<std::string> violations_together(const std::vector<File>& files) {
  std::vector<std::string> users;
  std::map<std::string, std::vector<Include>> includes;
  for (const File& file : files) {
    const std::vector<Include>& own = includes[file.path] = includes_of(file.text);
    const auto of_cli11 = [](const Include& include) { return begins_with(include.name, "CLI/"); };
    if (std::any_of(own.begin(), own.end(), of_cli11)) users.push_back(file.path);
  }
  std::vector<std::string> found;
  if (users.size() != 1) {
    found.push_back(fmt::format("CLI11 is included by {} files, not by one: {}", users.size(), fmt::join(users, ", ")));
  }
  for (const File& file : files) {
    if (begins_with(file.path, "sim/engine/")) continue;
    const std::vector<std::string> chain = way_to_simgrid(file.path, includes);
    if (!chain.empty())
      found.push_back(fmt::format("SimGrid is reached outside its room: {}", fmt::join(chain, " > ")));
  }
  return found;
}

std::vector<File> source_files(const std::string& root) {
  std::vector<File> files;
  for (const Room& room : rooms()) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / room.folder)) {
      constexpr std::array<std::string_view, 3> kinds = {".h", ".cpp", ".cu"};
      const std::string extension = entry.path().extension().string();
      if (std::find(kinds.begin(), kinds.end(), extension) == kinds.end()) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      files.push_back({fs::relative(entry.path(), root).generic_string(),
                       std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>())});
    }
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace foretrain::house
