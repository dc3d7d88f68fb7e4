#include "tests/cli/process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

namespace foretrain::test {

namespace fs = std::filesystem;

namespace {

void check(bool fine, const char* what) {
  if (!fine) throw std::runtime_error(std::string("test helper: ") + what + " failed");
}

// A pseudo-terminal: what the program takes for a terminal, and the end that reads it.
struct PseudoTerminal {
  int reader = -1, writer = -1;
  PseudoTerminal() {
    reader = posix_openpt(O_RDWR | O_NOCTTY);
    check(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0, "pseudo-terminal");
    writer = open(ptsname(reader), O_RDWR | O_NOCTTY);
    check(writer >= 0, "opening the pseudo-terminal");
  }
};

std::string read_until_closed(int descriptor) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(descriptor, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

// In the child: never returns.
[[noreturn]] void become_program(const Call& call, int in, int out, int err) {
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (!call.directory.empty() && chdir(call.directory.c_str()) != 0) _exit(99);
  unsetenv("FORETRAIN_DATA");
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  for (const auto& [name, value] : call.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words = {call.program.empty() ? FORETRAIN_PROGRAM : call.program};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv.front(), argv.data());
  _exit(98);
}

int exit_code(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waiting");
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Outcome run(const Call& call) {
  const TemporaryDirectory files;
  write_file(files.file("in"), call.input);
  const bool interrupt = call.interrupt_after_milliseconds > 0;
  int pipe_ends[2] = {-1, -1};
  if (interrupt) check(pipe2(pipe_ends, O_CLOEXEC) == 0, "pipe");
  const int in = interrupt ? pipe_ends[0] : open(files.file("in").c_str(), O_RDONLY | O_CLOEXEC);
  const int out = open(files.file("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = open(files.file("err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  check(in >= 0 && out >= 0 && err >= 0, "opening files");
  std::optional<PseudoTerminal> screen;
  if (call.terminal != Call::Terminal::none) screen.emplace();

  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    become_program(call, in, call.terminal == Call::Terminal::out ? screen->writer : out,
                   call.terminal == Call::Terminal::err ? screen->writer : err);
  }
  if (screen) close(screen->writer);
  Outcome outcome;
  if (interrupt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(call.interrupt_after_milliseconds));
    kill(child, SIGINT);
  }
  const std::string shown = screen ? read_until_closed(screen->reader) : "";
  outcome.code = exit_code(child);
  for (const int descriptor : {in, out, err, screen ? screen->reader : -1, pipe_ends[1]}) {
    if (descriptor >= 0) close(descriptor);
  }
  outcome.out = call.terminal == Call::Terminal::out ? shown : read_file(files.file("out"));
  outcome.err = call.terminal == Call::Terminal::err ? shown : read_file(files.file("err"));
  return outcome;
}

Outcome foretrain_with(std::vector<std::string> arguments) {
  Call call;
  call.arguments = std::move(arguments);
  return run(call);
}

Outcome in_shell(const std::string& line, const std::string& directory) {
  Call call;
  call.program = "/bin/sh";
  call.arguments = {"-c", "PATH=" + program_directory() + ":$PATH; " + line};
  call.directory = directory;
  return run(call);
}

std::string program_directory() { return fs::path(FORETRAIN_PROGRAM).parent_path().string(); }
std::string source_directory() { return FORETRAIN_SOURCE_DIRECTORY; }
std::string example(const std::string& name) { return source_directory() + "/scenarios/examples/" + name; }

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "foretrain-test-XXXXXX").string();
  check(mkdtemp(name.data()) != nullptr, "making a directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace foretrain::test
