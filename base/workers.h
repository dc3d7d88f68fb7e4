// Workers: independent tasks in forked processes.
//
// For work that slows down or may crash when much of it shares one process. A worker takes one task at a time and is
// replaced by a fresh process after some; one that crashes takes down the task it was at and nothing else. Workers end
// with the process that started them, however that ends. They share no memory with it: a task answers with text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace foretrain {

struct WorkerOptions {
  unsigned workers = 0;                                // processes at a time; 0 = one per core
  std::size_t tasks_per_worker = 32;                   // then a fresh process takes over; at least 1
  std::size_t longest_answer = std::size_t{64} << 20;  // bytes; a longer one is a failure
  // Called in this process after every task, and every second in between.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

struct WorkerAnswer {
  std::string text;     // what the task returned
  std::string failure;  // why there is no text: what the task threw, or how its process ended; empty = it returned
};

// work(0) … work(tasks - 1), each in some worker; the answers in the order of the tasks. No other thread may be
// running: a forked process would inherit its locks. Throws Error when no worker can be started, and what `progress`
// throws.
[[nodiscard]] std::vector<WorkerAnswer> run_in_workers(std::size_t tasks,
                                                       const std::function<std::string(std::size_t)>& work,
                                                       const WorkerOptions& options = {});

}  // namespace foretrain
