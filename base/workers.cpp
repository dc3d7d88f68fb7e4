#include "base/workers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <list>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain {

namespace {

using Work = std::function<std::string(std::size_t)>;

// What goes before every answer. Both ends are the same program on the same machine.
struct AnswerHead {
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;
};

// A peer that is gone is an error here, no signal.
bool send_all(int socket, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = ::recv(socket, at, bytes, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

WorkerAnswer answer_of(const Work& work, std::size_t task) {
  try {
    return {work(task), ""};
  } catch (const std::bad_alloc&) {
    return {"", "out of memory"};
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return {"", what.empty() ? "an exception without a message" : what};
  } catch (...) {
    return {"", "an exception that is no std::exception"};
  }
}

void end_with_parent(pid_t parent) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(1);
}

// The life of a worker: tasks until the parent hangs up. Ends without unwinding into the parent's code and without
// writing out the parent's buffers a second time.
[[noreturn]] void serve(int socket, const Work& work) {
  std::uint64_t task = 0;
  while (receive_all(socket, &task, sizeof task)) {
    const WorkerAnswer answer = answer_of(work, static_cast<std::size_t>(task));
    const std::string& text = answer.failure.empty() ? answer.text : answer.failure;
    const AnswerHead head{text.size(), answer.failure.empty() ? 0U : 1U};
    if (!send_all(socket, &head, sizeof head) || !send_all(socket, text.data(), text.size())) break;
  }
  ::_exit(0);
}

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("its process exited with code {}", WEXITSTATUS(status));
  return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

// One worker process as its parent sees it.
class Worker {
 public:
  // `others`: sockets of the other workers, which this one must not keep open. Throws std::system_error.
  Worker(const Work& work, const std::vector<int>& others) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      end_with_parent(parent);
      ::close(ends[0]);
      for (const int other : others) ::close(other);
      serve(ends[1], work);
    }
    const int error = errno;
    ::close(ends[1]);
    socket_ = ends[0];
    if (pid_ > 0) return;
    ::close(socket_);
    errno = error;
    throw_errno("fork");
  }
  ~Worker() {
    ::close(socket_);
    if (!is_reaped_) ::kill(pid_, SIGKILL);
    static_cast<void>(reap());
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] std::optional<std::size_t> task() const { return task_; }
  [[nodiscard]] std::size_t given() const { return given_; }

  // A worker that is gone is found out when its answer is waited for.
  void give(std::size_t task) {
    task_ = task;
    ++given_;
    const std::uint64_t number = task;
    static_cast<void>(send_all(socket_, &number, sizeof number));
  }

  // Takes in what is there; the answer once it is whole, or what has become of the process.
  std::optional<WorkerAnswer> receive(std::size_t longest_answer) {
    char chunk[1 << 16];
    const ssize_t received = ::recv(socket_, chunk, sizeof chunk, MSG_DONTWAIT);
    if (received < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
    if (received <= 0) return WorkerAnswer{"", how_it_ended(reap())};
    received_.append(chunk, static_cast<std::size_t>(received));
    AnswerHead head;
    if (received_.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, received_.data(), sizeof head);
    if (head.bytes > longest_answer) {
      ::kill(pid_, SIGKILL);
      static_cast<void>(reap());
      return WorkerAnswer{"", fmt::format("its answer of {} bytes is longer than {}", head.bytes, longest_answer)};
    }
    if (received_.size() < sizeof head + head.bytes) return std::nullopt;
    const std::string text = received_.substr(sizeof head);
    received_.clear();
    task_.reset();
    return head.failed != 0 ? WorkerAnswer{"", text} : WorkerAnswer{text, ""};
  }

  [[nodiscard]] bool is_over() const { return is_reaped_; }

  // No more tasks: waits for the process to end by itself.
  void retire() {
    ::shutdown(socket_, SHUT_WR);
    static_cast<void>(reap());
  }

 private:
  [[noreturn]] static void throw_errno(const char* call) {
    throw std::system_error(errno, std::generic_category(), call);
  }

  int reap() {
    if (is_reaped_) return status_;
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    is_reaped_ = true;
    return status_;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
  int status_ = 0;
  bool is_reaped_ = false;
  std::optional<std::size_t> task_;
  std::size_t given_ = 0;
  std::string received_;
};

class Pool {
 public:
  Pool(std::size_t tasks, const Work& work, const WorkerOptions& options)
      : work_(work), options_(options), answers_(tasks) {
    const unsigned asked = options.workers > 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
    most_workers_ = std::min<std::size_t>(asked, tasks);
  }

  std::vector<WorkerAnswer> run() {
    while (done_ < answers_.size()) {
      hand_out();
      wait();
      if (options_.progress) options_.progress(done_, answers_.size());
    }
    for (Worker& worker : workers_) worker.retire();
    return std::move(answers_);
  }

 private:
  void hand_out() {
    for (Worker& worker : workers_) {
      if (!worker.task() && next_ < answers_.size()) worker.give(next_++);
    }
    while (next_ < answers_.size() && workers_.size() < most_workers_ && start_one()) workers_.back().give(next_++);
  }

  // Fewer workers than wanted are enough; none are not.
  bool start_one() {
    std::vector<int> sockets;
    for (const Worker& worker : workers_) sockets.push_back(worker.socket());
    try {
      workers_.emplace_back(work_, sockets);
      return true;
    } catch (const std::system_error& error) {
      if (!workers_.empty()) return false;
      throw Error(fmt::format("no worker process can be started: {}", error.what()), "",
                  "the limit on processes or open files may be reached", ExitCode::failed);
    }
  }

  void wait() {
    std::vector<pollfd> watched;
    for (const Worker& worker : workers_) watched.push_back({worker.socket(), POLLIN, 0});
    constexpr int second = 1000;
    if (::poll(watched.data(), watched.size(), second) <= 0) return;
    auto worker = workers_.begin();
    for (const pollfd& one : watched) {
      worker = one.revents != 0 && is_done_with(*worker) ? workers_.erase(worker) : std::next(worker);
    }
  }

  // Takes what `worker` sent; true when the process is gone or has had its share of tasks.
  bool is_done_with(Worker& worker) {
    const std::optional<std::size_t> task = worker.task();
    std::optional<WorkerAnswer> answer = worker.receive(options_.longest_answer);
    if (!answer) return false;
    if (task) {
      answers_[*task] = std::move(*answer);
      ++done_;
    }
    if (worker.is_over()) return true;
    if (worker.given() < std::max<std::size_t>(options_.tasks_per_worker, 1)) return false;
    worker.retire();
    return true;
  }

  const Work& work_;
  const WorkerOptions& options_;
  std::vector<WorkerAnswer> answers_;
  std::size_t most_workers_ = 1;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::list<Worker> workers_;
};

}  // namespace

std::vector<WorkerAnswer> run_in_workers(std::size_t tasks, const Work& work, const WorkerOptions& options) {
  return Pool(tasks, work, options).run();
}

}  // namespace foretrain
