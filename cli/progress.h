// Progress: says on a terminal that work is going on, once it takes longer than a second.
//
// It shows the time gone by and nothing it does not know (no percentage, no end), and leaves an empty
// line behind. Silent where stderr is no terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace foretrain::cli {

class Progress {
 public:
  // "200 replays of 7 scenarios"; not `wanted`: does nothing.
  Progress(std::string work, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();

  std::string work_;
  std::mutex mutex_;
  std::condition_variable done_signal_;
  bool done_ = false;
  std::thread thread_;
};

// The same for work whose parts are counted: says how many are done and how long the rest takes at this pace. It
// shows itself in update() and has no thread of its own, so that work may be done in forked processes.
class CountedProgress {
 public:
  // `things`: what is counted, "families".
  CountedProgress(std::string things, bool wanted);
  ~CountedProgress();
  CountedProgress(const CountedProgress&) = delete;
  CountedProgress& operator=(const CountedProgress&) = delete;

  // Call it often; it writes at most four times a second.
  void update(std::size_t done, std::size_t all);

 private:
  using Clock = std::chrono::steady_clock;

  std::string things_;
  bool wanted_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
  bool shown_ = false;
};

// "120 of 324 families, 14 s, about 24 s left"
[[nodiscard]] std::string counted_progress_line(const std::string& things, std::size_t done, std::size_t all,
                                                double seconds);

}  // namespace foretrain::cli
