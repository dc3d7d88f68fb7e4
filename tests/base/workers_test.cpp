#include "base/workers.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/catch.h"

using namespace foretrain;

namespace {

WorkerOptions with(unsigned workers, std::size_t tasks_per_worker = 32) {
  WorkerOptions options;
  options.workers = workers;
  options.tasks_per_worker = tasks_per_worker;
  return options;
}

std::string process_id(std::size_t) { return fmt::format("{}", ::getpid()); }

std::set<std::string> texts(const std::vector<WorkerAnswer>& answers) {
  std::set<std::string> all;
  for (const WorkerAnswer& answer : answers) all.insert(answer.text);
  return all;
}

}  // namespace

TEST_CASE("answers come in the order of the tasks, whatever the number of workers") {
  const auto square = [](std::size_t task) {
    ::usleep(static_cast<useconds_t>(task % 3 * 1000));  // tasks end in another order than they began
    return fmt::format("{}", task * task);
  };
  for (const unsigned workers : {0U, 1U, 2U, 50U}) {
    const std::vector<WorkerAnswer> answers = run_in_workers(20, square, with(workers));
    REQUIRE(answers.size() == 20);
    for (std::size_t task = 0; task < answers.size(); ++task) {
      CHECK(answers[task].failure.empty());
      CHECK(answers[task].text == fmt::format("{}", task * task));
    }
  }
  CHECK(run_in_workers(0, square).empty());
}

TEST_CASE("tasks run outside this process, as many at a time as there are workers") {
  const std::vector<WorkerAnswer> answers = run_in_workers(12, process_id, with(3, 100));
  CHECK(texts(answers).size() <= 3);
  CHECK(texts(answers).count(fmt::format("{}", ::getpid())) == 0);
}

TEST_CASE("a worker is replaced after its share of tasks") {
  // 10 tasks at 3 each: 3 + 3 + 3 + 1.
  CHECK(texts(run_in_workers(10, process_id, with(1, 3))).size() == 4);
}

TEST_CASE("an exception is the failure of its task alone") {
  const auto work = [](std::size_t task) -> std::string {
    if (task == 1) throw std::runtime_error("no such model");
    if (task == 2) throw Error("no such machine", "here", "look there");
    if (task == 3) throw std::bad_alloc();
    if (task == 4) throw 4;
    return "fine";
  };
  const std::vector<WorkerAnswer> answers = run_in_workers(6, work, with(2));
  CHECK(answers[0].text == "fine");
  CHECK(answers[1].failure == "no such model");
  CHECK(answers[2].failure == "no such machine");
  CHECK(answers[3].failure == "out of memory");
  CHECK(answers[4].failure == "an exception that is no std::exception");
  CHECK(answers[5].text == "fine");
}

TEST_CASE("a crash is the failure of its task alone") {
  const auto work = [](std::size_t task) -> std::string {
    if (task == 2) {
      std::signal(SIGSEGV, SIG_DFL);  // Catch would report it
      std::raise(SIGSEGV);
    }
    if (task == 5) ::_exit(7);
    return fmt::format("{}", task);
  };
  for (const unsigned workers : {1U, 3U}) {
    const std::vector<WorkerAnswer> answers = run_in_workers(8, work, with(workers));
    for (const std::size_t task : {0U, 1U, 3U, 4U, 6U, 7U}) CHECK(answers[task].text == fmt::format("{}", task));
    CHECK(answers[2].failure == "its process was ended by signal 11 (Segmentation fault)");
    CHECK(answers[5].failure == "its process exited with code 7");
  }
}

TEST_CASE("long answers arrive whole, too long ones are refused") {
  const auto work = [](std::size_t task) { return std::string(task, 'x'); };
  WorkerOptions options = with(2);
  options.longest_answer = 1'000'000;
  const std::vector<WorkerAnswer> answers = run_in_workers(
      3, [&](std::size_t task) { return work(task == 0 ? 0 : 999'999 + task); }, options);
  CHECK(answers[0].failure.empty());
  CHECK(answers[0].text.empty());
  CHECK(answers[1].text == work(1'000'000));
  CHECK(answers[2].text.empty());
  CHECK(answers[2].failure == "its answer of 1000001 bytes is longer than 1000000");
}

TEST_CASE("workers report progress up to the end, and an exception in it ends them") {
  WorkerOptions options = with(2);
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t all) {
    CHECK(done >= last);
    CHECK(all == 9);
    last = done;
  };
  CHECK(run_in_workers(9, process_id, options).size() == 9);
  CHECK(last == 9);
  options.progress = [](std::size_t, std::size_t) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(run_in_workers(9, process_id, options), "enough");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
}

TEST_CASE("workers end with the process that started them") {
  int alive[2];  // its writing end is open as long as any of the processes lives
  REQUIRE(::pipe(alive) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(alive[0]);
    const auto sleep_long = [&](std::size_t) {
      static_cast<void>(::write(alive[1], "x", 1));
      ::sleep(60);
      return std::string();
    };
    static_cast<void>(run_in_workers(4, sleep_long, with(2)));
    ::_exit(0);
  }
  ::close(alive[1]);
  char started[2];
  REQUIRE(::read(alive[0], started, 1) == 1);
  REQUIRE(::read(alive[0], started, 1) == 1);
  REQUIRE(::kill(parent, SIGKILL) == 0);
  REQUIRE(::waitpid(parent, nullptr, 0) == parent);
  pollfd watched{alive[0], POLLIN, 0};
  REQUIRE(::poll(&watched, 1, 10'000) == 1);  // seconds of 60
  CHECK(::read(alive[0], started, 1) == 0);   // all ends closed: nobody is left
  ::close(alive[0]);
}
