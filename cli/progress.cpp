#include "cli/progress.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal.h"

namespace foretrain::cli {

Progress::Progress(std::string work, bool wanted) : work_(std::move(work)) {
  if (wanted && stderr_is_terminal()) thread_ = std::thread(&Progress::show, this);
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  done_signal_.notify_one();
  thread_.join();
}

void Progress::show() {
  std::unique_lock<std::mutex> lock(mutex_);
  int seconds = 0;
  while (!done_signal_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    ++seconds;
    std::fprintf(stderr, "\r%s: %d s", work_.c_str(), seconds);
  }
  if (seconds > 0) std::fputs("\r\x1b[K", stderr);  // leaves the line as it was
}

CountedProgress::CountedProgress(std::string things, bool wanted)
    : things_(std::move(things)), wanted_(wanted && stderr_is_terminal()) {}

CountedProgress::~CountedProgress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);  // leaves the line as it was
}

void CountedProgress::update(std::size_t done, std::size_t all) {
  const Clock::time_point now = Clock::now();
  const bool begun = now - start_ >= std::chrono::seconds(1);
  if (!wanted_ || !begun || (shown_ && now - last_shown_ < std::chrono::milliseconds(250))) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r\x1b[K{}", counted_progress_line(things_, done, all, seconds));
  std::fflush(stderr);
  last_shown_ = now;
  shown_ = true;
}

std::string counted_progress_line(const std::string& things, std::size_t done, std::size_t all, double seconds) {
  std::string line = fmt::format("{} of {} {}, {:.0f} s", done, all, things, seconds);
  if (done == 0) return line;
  const double left = seconds / static_cast<double>(done) * static_cast<double>(all - done);
  return line + fmt::format(", about {:.0f} s left", left);
}

}  // namespace foretrain::cli
