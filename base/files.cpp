#include "base/files.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

constexpr const char* standard_stream = "-";

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

// Removes a file when it goes out of scope, unless released.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  void release() { path_.clear(); }

 private:
  fs::path path_;
};

[[noreturn]] void fail_missing(const std::string& path) {
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  constexpr std::size_t most_names = 1000;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < most_names;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  const auto near = nearest(wanted.filename().string(), names);
  throw Error("no such file", printable(path), near ? fmt::format("did you mean {}?", quoted(*near)) : "");
}

std::string read_descriptor(int descriptor, const std::string& name, std::size_t limit) {
  std::string text;
  std::vector<char> buffer(std::size_t{64} << 10);
  while (true) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error("cannot be read: " + reason(errno), name);
    if (count == 0) return text;
    if (text.size() + static_cast<std::size_t>(count) > limit) {
      throw Error("too large: more than " + format_bytes(Bytes(static_cast<double>(limit))), name);
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Zero, or the error number of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

[[noreturn]] void fail_writing(const std::string& path, int error_number) {
  throw Error("cannot be written: " + reason(error_number), printable(path), "", ExitCode::failed);
}

// Where the bytes of `path` really go: a symbolic link is followed, so that renaming does not replace it.
fs::path final_target(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : target;
}

// Devices and pipes (/dev/null, /dev/stdout) are written in place: renaming would replace the device.
bool written_in_place(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return !error && fs::exists(status) && !fs::is_regular_file(status);
}

void write_in_place(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number() < 0) fail_writing(path, errno);
  if (const int error = write_all(file.number(), text)) fail_writing(path, error);
}

// A new, empty file in the directory of `target`, open for writing.
class NewFileBeside {
 public:
  NewFileBeside(const std::string& shown_path, const fs::path& target)
      : temporary_(target.string() + fmt::format(".{}.tmp", ::getpid())),
        file_(::open(temporary_.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyone)) {
    if (file_.number() < 0) {
      const int error = errno;
      temporary_.release();  // not ours
      fail_writing(shown_path, error);
    }
  }
  [[nodiscard]] Descriptor& file() { return file_; }
  [[nodiscard]] bool rename_to(const fs::path& target) {
    if (::rename(temporary_.path().c_str(), target.c_str()) != 0) return false;
    temporary_.release();
    return true;
  }

 private:
  static constexpr mode_t everyone = 0666;  // less the umask, as any program's output

  TemporaryFile temporary_;
  Descriptor file_;
};

void write_beside_and_rename(const std::string& path, const fs::path& target, std::string_view text) {
  NewFileBeside beside(path, target);
  Descriptor& file = beside.file();
  struct stat old = {};
  if (::stat(target.c_str(), &old) == 0 && ::fchmod(file.number(), old.st_mode & 07777U) != 0) {
    fail_writing(path, errno);
  }
  if (const int error = write_all(file.number(), text)) fail_writing(path, error);
  // Without fsync a power cut could leave the new name with an empty file.
  if (::fsync(file.number()) != 0 || file.close() != 0) fail_writing(path, errno);
  if (!beside.rename_to(target)) fail_writing(path, errno);
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  if (path == standard_stream) return read_descriptor(STDIN_FILENO, "standard input", limit);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) fail_missing(path);
    throw Error("cannot be read: " + reason(errno), printable(path));
  }
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) throw Error("cannot be read: " + reason(errno), printable(path));
  if (S_ISDIR(status.st_mode)) throw Error("is a directory; a file is expected", printable(path));
  return read_descriptor(file.number(), printable(path), limit);
}

void check_writable(const std::string& path) {
  if (path == standard_stream) return;
  if (path.empty()) throw Error("an empty file name cannot be written", "", "give a path, or - for standard output");
  const fs::path target = final_target(path);
  std::error_code error;
  if (fs::is_directory(target, error)) throw Error("is a directory; a file is expected", printable(path));
  if (written_in_place(target)) {
    if (::access(target.c_str(), W_OK) != 0) fail_writing(path, errno);
    return;
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw Error("cannot be written: there is no directory " + quoted(folder.string()), printable(path),
                "create the directory first");
  }
  // Making a file is the only sure test (permissions, read-only disks, quotas); it is removed at once.
  const NewFileBeside trial(path, target);
}

void write_file(const std::string& path, std::string_view text) {
  if (path == standard_stream) {
    std::fflush(stdout);
    if (const int error = write_all(STDOUT_FILENO, text)) fail_writing("standard output", error);
    return;
  }
  check_writable(path);
  const fs::path target = final_target(path);
  if (written_in_place(target)) {
    write_in_place(path, text);
  } else {
    write_beside_and_rename(path, target, text);
  }
}

std::string digest(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x00000100000001B3U;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace foretrain
