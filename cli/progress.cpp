#include "cli/progress.h"

#include <chrono>
#include <cstdio>
#include <utility>

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

}  // namespace foretrain::cli
