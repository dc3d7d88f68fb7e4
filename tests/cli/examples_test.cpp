// The examples of README.md and docs/ are commands that work, and their output is what the program prints.
//
// A ```sh block whose lines begin with "foretrain" is run line by line; an ```output block after it is compared
// with what the last line printed. FORETRAIN_UPDATE_GOLDEN=1 writes the output blocks anew.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;

namespace {

struct Block {
  std::string kind;   // what stands after ```
  std::string text;
  std::size_t start = 0;  // of the text in the page
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::size_t at = 0;
  while ((at = page.find("```", at)) != std::string::npos) {
    const std::size_t start = page.find('\n', at) + 1;
    const std::size_t end = page.find("```", start);
    blocks.push_back({page.substr(at + 3, start - 1 - at - 3), page.substr(start, end - start), start});
    at = end + 3;
  }
  return blocks;
}

// Runs the page's examples; returns the page with every output block as the program prints it now.
std::string run_page(const std::string& page, int& commands) {
  const TemporaryDirectory folder;
  for (const std::string name : {"scenarios", "tests"}) {
    std::filesystem::create_directory_symlink(source_directory() + "/" + name, folder.file(name));
  }
  std::string current = page;
  std::string printed;
  std::size_t shift = 0;
  for (const Block& block : blocks_of(page)) {
    if (block.kind == "sh" && block.text.rfind("foretrain", 0) == 0) {
      std::istringstream lines(block.text);
      std::string line;
      while (std::getline(lines, line)) {
        INFO(line);
        const Outcome outcome = in_shell(line, folder.path());
        INFO(outcome.err);
        CHECK((outcome.code == 0 || (outcome.code == 3 && line.find("--require") != std::string::npos)));
        printed = outcome.out;
        ++commands;
      }
    } else if (block.kind == "output") {
      current.replace(block.start + shift, block.text.size(), printed);
      shift += printed.size() - block.text.size();
    }
  }
  return current;
}

}  // namespace

TEST_CASE("the documentation's examples run and print what is written there") {
  for (const char* name : {"README.md", "docs/cli.md", "docs/gradients.md", "docs/validation.md"}) {
    INFO(name << " (FORETRAIN_UPDATE_GOLDEN=1 rewrites its output blocks)");
    const std::string path = source_directory() + "/" + name;
    const std::string page = read_file(path);
    int commands = 0;
    const std::string current = run_page(page, commands);
    CHECK(commands > 0);
    if (std::getenv("FORETRAIN_UPDATE_GOLDEN") != nullptr) {
      write_file(path, current);
    } else {
      CHECK(page == current);
    }
  }
}
