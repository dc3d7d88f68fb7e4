#include "sim/engine/session.h"

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::sim::engine;

namespace {

// Writes down what happens; tests may react to timers.
struct Recorder final : SessionListener {
  std::vector<std::pair<Token, double>> timers, flows;
  std::function<void(Token)> reaction;

  void on_timer(Token token, double at) override {
    timers.emplace_back(token, at);
    if (reaction) reaction(token);
  }
  void on_flow_end(Token token, double at) override { flows.emplace_back(token, at); }
};

double end_of_one_flow(double bytes, double bandwidth) {
  Recorder recorder;
  Session session(recorder, Seconds(bytes / bandwidth));
  session.start_flow(Bytes(bytes), {{session.add_link(BytesPerSecond(bandwidth)), 1}}, 0);
  session.run();
  return recorder.flows.at(0).second;
}

long resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  }
  return 0;
}

void our_handler(int) {}

}  // namespace

TEST_CASE("a flow gets the whole bandwidth of its link") {
  CHECK(end_of_one_flow(1e9, 25e9) == Approx(0.04).epsilon(1e-12));     // 1 GB over 25 GB/s
  CHECK(end_of_one_flow(4, 25e9) == Approx(1.6e-10).epsilon(1e-6));     // four bytes
  CHECK(end_of_one_flow(1e12, 1e6) == Approx(1e6).epsilon(1e-12));      // 1 TB over 1 MB/s: 11 days
  CHECK(end_of_one_flow(1e9, 1e-290) == Approx(1e299).epsilon(1e-12));  // nonsense, but in range
  CHECK(end_of_one_flow(1e9, 1e290) == Approx(1e-281).epsilon(1e-12));
  CHECK(end_of_one_flow(123456789.375, 900e9) == Approx(123456789.375 / 900e9).epsilon(1e-12));
}

TEST_CASE("flows share a link evenly, by weight") {
  // Weights 3 and 1 on 100 B/s: both run at 25 B/s. The second ends after 1 s (25 bytes); the first has sent 25 of
  // its 125 by then and goes on at 100/3 B/s: 100 / (100/3) = 3 s more.
  Recorder recorder;
  Session session(recorder, Seconds(100));
  const LinkHandle link = session.add_link(BytesPerSecond(100));
  session.start_flow(Bytes(125), {{link, 3}}, 1);
  session.start_flow(Bytes(25), {{link, 1}}, 2);
  session.run();
  REQUIRE(recorder.flows.size() == 2);
  CHECK(recorder.flows[0].first == 2);
  CHECK(recorder.flows[0].second == Approx(1.0).epsilon(1e-12));
  CHECK(recorder.flows[1].second == Approx(4.0).epsilon(1e-12));
}

TEST_CASE("every flow takes the route it was started with") {
  // Three flows of 100 bytes over 10, 20 and 50 B/s links: 10, 5 and 2 s. A cached route would give three times 10 s.
  Recorder recorder;
  Session session(recorder, Seconds(100));
  const LinkHandle slow = session.add_link(BytesPerSecond(10)), medium = session.add_link(BytesPerSecond(20)),
                   fast = session.add_link(BytesPerSecond(50));
  session.start_flow(Bytes(100), {{slow, 1}}, 0);
  session.start_flow(Bytes(100), {{medium, 1}, {fast, 1}}, 1);
  session.start_flow(Bytes(50), {{fast, 1}}, 2);
  session.run();
  REQUIRE(recorder.flows.size() == 3);
  // The fast link carries both: the medium flow is bound to 20 B/s, which leaves 30 B/s: 50/30 s.
  CHECK(recorder.flows[0] == std::make_pair(Token{2}, recorder.flows[0].second));
  CHECK(recorder.flows[0].second == Approx(50.0 / 30).epsilon(1e-12));
  CHECK(recorder.flows[1].second == Approx(5.0).epsilon(1e-12));
  CHECK(recorder.flows[2].second == Approx(10.0).epsilon(1e-12));
}

TEST_CASE("a thin flow is not rounded away beside a thick one") {
  // The thick flow takes 200,000 units per unit of rate and is held to 0.999995 B/s by another link: that leaves
  // 200,001 - 199,999 = 2 B/s for the thin one, less than the 10^-5 of the link that SimGrid rounds away unless told.
  Recorder recorder;
  Session session(recorder, Seconds(1000));
  const LinkHandle shared = session.add_link(BytesPerSecond(200001)),
                   narrow = session.add_link(BytesPerSecond(0.999995));
  session.start_flow(Bytes(100), {{shared, 200000}, {narrow, 1}}, 1);
  session.start_flow(Bytes(4), {{shared, 1}}, 2);
  session.run();
  CHECK(recorder.flows.at(0).first == 2);
  CHECK(recorder.flows.at(0).second == Approx(2.0).epsilon(1e-9));
  CHECK(recorder.flows.at(1).second == Approx(100 / 0.999995).epsilon(1e-9));
}

TEST_CASE("events a fraction of a nanosecond apart stay apart") {
  // 1 and 1.5 bytes over 1 GB/s each: SimGrid's own precision is 1 ns.
  Recorder recorder;
  Session session(recorder, Seconds(1e-8));
  session.start_flow(Bytes(1.5), {{session.add_link(BytesPerSecond(1e9)), 1}}, 1);
  session.start_flow(Bytes(1), {{session.add_link(BytesPerSecond(1e9)), 1}}, 2);
  session.run();
  CHECK(recorder.flows.at(0).second == Approx(1e-9).epsilon(1e-9));
  CHECK(recorder.flows.at(1).second == Approx(1.5e-9).epsilon(1e-9));
}

TEST_CASE("timers ring at exactly their time, cancelled ones never") {
  Recorder recorder;
  Session session(recorder, Seconds(10));
  session.set_timer(0.3, 3);
  session.set_timer(0.1, 1);
  const TimerHandle cancelled = session.set_timer(0.2, 2);
  session.set_timer(0.1, 4);
  recorder.reaction = [&](Token token) {
    if (token == 1) session.cancel(cancelled);
    if (token == 3) session.set_timer(0.3, 5);  // now
  };
  session.run();
  CHECK(session.events() == 4);
  REQUIRE(recorder.timers.size() == 4);
  CHECK(recorder.timers[0] == std::make_pair(Token{1}, 0.1));
  CHECK(recorder.timers[1] == std::make_pair(Token{4}, 0.1));
  CHECK(recorder.timers[2] == std::make_pair(Token{3}, 0.3));
  CHECK(recorder.timers[3] == std::make_pair(Token{5}, 0.3));
}

TEST_CASE("every session starts at time zero, whatever ran before") {
  const auto several = [] {
    std::vector<double> ends;
    for (int i = 0; i < 20; ++i) ends.push_back(end_of_one_flow(1e9 + i, 7e9));
    return ends;
  };
  const std::vector<double> first = several();
  for (int i = 0; i < 20; ++i) end_of_one_flow(1e13 / (3 + i), 1e3);
  CHECK(several() == first);  // to the last bit
}

TEST_CASE("a flow beyond SimGrid's sizes is an error, and the next session works") {
  CHECK_THROWS_AS(end_of_one_flow(2e14, 1e9), Error);
  CHECK(end_of_one_flow(1e9, 25e9) == Approx(0.04).epsilon(1e-12));
}

TEST_CASE("an exception out of a running session leaves the next one usable") {
  Recorder recorder;
  recorder.reaction = [](Token) { throw Error("stop here"); };
  {
    Session session(recorder, Seconds(10));
    const LinkHandle link = session.add_link(BytesPerSecond(100));
    session.start_flow(Bytes(1000), {{link, 1}}, 0);
    session.set_timer(1, 0);
    session.set_timer(2, 0);
    CHECK_THROWS_AS(session.run(), Error);
  }
  CHECK(end_of_one_flow(1e9, 25e9) == Approx(0.04).epsilon(1e-12));
}

TEST_CASE("the program keeps its own signal handlers") {
  struct sigaction ours = {}, before = {}, after = {};
  ours.sa_handler = our_handler;
  sigaction(SIGINT, &ours, &before);
  struct sigaction segv_before = {}, segv_after = {};
  sigaction(SIGSEGV, nullptr, &segv_before);
  end_of_one_flow(1e9, 25e9);
  sigaction(SIGINT, nullptr, &after);
  sigaction(SIGSEGV, nullptr, &segv_after);
  CHECK(after.sa_handler == our_handler);
  CHECK(segv_after.sa_handler == segv_before.sa_handler);
  sigaction(SIGINT, &before, nullptr);
}

TEST_CASE("a thousand sessions in one process do not grow it") {
  const auto simulate = [] {
    Recorder recorder;
    Session session(recorder, Seconds(10));
    const LinkHandle link = session.add_link(BytesPerSecond(100));
    for (Token i = 0; i < 32; ++i) {
      session.start_flow(Bytes(10), {{link, 1}}, i);
      session.set_timer(0.01 * static_cast<double>(i), i);
    }
    session.run();
    return recorder.flows.size() + recorder.timers.size();
  };
  for (int i = 0; i < 50; ++i) REQUIRE(simulate() == 64);
  const long before = resident_kilobytes();
  for (int i = 0; i < 1000; ++i) REQUIRE(simulate() == 64);
  // 1,000 sessions of 32 flows and 32 timers would leave megabytes behind if they left anything.
  CHECK(resident_kilobytes() - before < 1024);
}
