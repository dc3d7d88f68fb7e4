// Process: runs the real program and catches what comes out of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace foretrain::test {

struct Call {
  std::vector<std::string> arguments;
  std::string input;                     // on stdin
  std::string directory;                 // to run in; empty = here
  std::vector<std::pair<std::string, std::string>> environment;  // added; FORETRAIN_DATA and NO_COLOR are unset first
  enum class Terminal { none, out, err };
  Terminal terminal = Terminal::none;    // which stream is a terminal
  int interrupt_after_milliseconds = 0;  // sends SIGINT and keeps stdin open until then; 0 = never
  std::string program;                   // empty = foretrain
};

struct Outcome {
  int code = -1;  // exit code; 1000 + the signal when one ended it
  std::string out, err;
};

[[nodiscard]] Outcome run(const Call& call);

// foretrain with these arguments.
[[nodiscard]] Outcome foretrain_with(std::vector<std::string> arguments);

// A line of shell commands, run in `directory`, which know the program under test as foretrain.
[[nodiscard]] Outcome in_shell(const std::string& line, const std::string& directory);

// Directory of the program under test, and of the source tree.
[[nodiscard]] std::string program_directory();
[[nodiscard]] std::string source_directory();
[[nodiscard]] std::string example(const std::string& name);  // scenarios/examples/NAME

// A fresh directory that goes away with this object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace foretrain::test
