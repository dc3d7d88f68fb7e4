#include "base/files.h"

#include <csignal>
#include <filesystem>

#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/base/temporary_directory.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"

using namespace foretrain;
using foretrain::test::message;
using foretrain::test::TemporaryDirectory;
using foretrain::test::thrown;

namespace {

// Writing beyond `bytes` fails with EFBIG while this lives, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_ = {};
};

}  // namespace

TEST_CASE("a file is read back as it was written, bytes and all") {
  const TemporaryDirectory folder;
  const std::string text("a\0b\r\n\xff", 6);
  write_file(folder.path("out.bin"), text);
  CHECK(read_file(folder.path("out.bin")) == text);
  CHECK(folder.file_count() == 1);  // no temporary file stays
}

TEST_CASE("a missing file is named, with the nearest name in its directory") {
  const TemporaryDirectory folder;
  folder.add("scenario.json", "{}");
  CHECK(message([&] { (void)read_file(folder.path("scenari.json")); }) ==
        folder.path("scenari.json") + ": no such file (did you mean \"scenario.json\"?)");
  CHECK(message([&] { (void)read_file(folder.path("other.csv")); }) == folder.path("other.csv") + ": no such file");
  CHECK(message([&] { (void)read_file(folder.path("scenario.json/x")); }) ==
        folder.path("scenario.json/x") + ": no such file");
  CHECK(thrown([&] { (void)read_file(folder.path("other.csv")); }).code() == ExitCode::usage);
}

TEST_CASE("a directory is no file, to read or to write") {
  const TemporaryDirectory folder;
  CHECK(message([&] { (void)read_file(folder.path()); }) == folder.path() + ": is a directory; a file is expected");
  CHECK(message([&] { write_file(folder.path(), "x"); }) == folder.path() + ": is a directory; a file is expected");
}

TEST_CASE("reading stops at the limit, even where a file has no size") {
  const TemporaryDirectory folder;
  folder.add("big", std::string(2048, 'x'));
  CHECK(read_file(folder.path("big"), 2048).size() == 2048);
  CHECK(message([&] { (void)read_file(folder.path("big"), 1024); }) ==
        folder.path("big") + ": too large: more than 1.00 KiB");
  CHECK(message([] { (void)read_file("/dev/zero", std::size_t{1} << 20); }) ==
        "/dev/zero: too large: more than 1.00 MiB");
}

TEST_CASE("writing replaces the file and keeps its permissions") {
  const TemporaryDirectory folder;
  folder.add("out.json", "old and longer");
  REQUIRE(chmod(folder.path("out.json").c_str(), 0640) == 0);
  write_file(folder.path("out.json"), "new");
  CHECK(read_file(folder.path("out.json")) == "new");
  struct stat status = {};
  REQUIRE(stat(folder.path("out.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0640);
}

TEST_CASE("writing through a symbolic link changes the file it names") {
  const TemporaryDirectory folder;
  folder.add("real", "old");
  std::filesystem::create_symlink("real", folder.path("link"));
  write_file(folder.path("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  CHECK(read_file(folder.path("real")) == "new");
}

TEST_CASE("a failed write leaves the old file and no temporary one") {
  const TemporaryDirectory folder;
  folder.add("out.json", "old");
  const Error error = thrown([&] {
    const FileSizeLimit limit(4096);
    write_file(folder.path("out.json"), std::string(10000, 'x'));
  });
  CHECK(test::message_of(error) == folder.path("out.json") + ": cannot be written: File too large");
  CHECK(error.code() == ExitCode::failed);
  CHECK(read_file(folder.path("out.json")) == "old");
  CHECK(folder.file_count() == 1);
}

TEST_CASE("devices are written in place") {
  write_file("/dev/null", "gone");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(message([] { write_file("/dev/full", "x"); }) == "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("what cannot be written is said before the work, without touching anything") {
  const TemporaryDirectory folder;
  CHECK_NOTHROW(check_writable("-"));
  CHECK_NOTHROW(check_writable(folder.path("new.json")));
  CHECK(folder.file_count() == 0);
  CHECK(message([&] { check_writable(folder.path("no/such/out.json")); }) ==
        folder.path("no/such/out.json") + ": cannot be written: there is no directory \"" + folder.path("no/such") +
            "\" (create the directory first)");
  CHECK(message([] { check_writable(""); }) ==
        "an empty file name cannot be written (give a path, or - for standard output)");
  CHECK(message([] { check_writable("/proc/out.json"); }).rfind("/proc/out.json: cannot be written", 0) == 0);
}

TEST_CASE("the digest is FNV-1a") {
  // offset basis, and the published value of "foobar"
  CHECK(digest("") == "cbf29ce484222325");
  CHECK(digest("foobar") == "85944171f73967e8");
}
