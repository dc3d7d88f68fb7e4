// Progress: says on a terminal that work is going on, once it takes longer than a second.
//
// It shows the time gone by and nothing it does not know (no percentage, no end), and leaves an empty
// line behind. Silent where stderr is no terminal.
#pragma once

#include <condition_variable>
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

}  // namespace foretrain::cli
