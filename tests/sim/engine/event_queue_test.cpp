#include "sim/engine/event_queue.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"

using foretrain::sim::engine::EventHandle;
using foretrain::sim::engine::EventQueue;

TEST_CASE("events come by time, then in the order in which they were added") {
  EventQueue queue;
  queue.add({2, 1, 0});
  queue.add({1, 2, 0});
  queue.add({2, 3, 0});
  queue.add({1, 4, 0});
  std::vector<std::uint64_t> order;
  while (!queue.empty()) order.push_back(queue.take().name);
  CHECK(order == std::vector<std::uint64_t>{2, 4, 1, 3});
}

TEST_CASE("a cancelled event never comes, though its place is taken again") {
  EventQueue queue;
  const EventHandle cancelled = queue.add({1, 1, 0});
  queue.cancel(cancelled);
  const EventHandle again = queue.add({3, 2, 0});
  queue.add({2, 3, 0});
  CHECK(queue.next_at() == 2);
  CHECK(queue.take().name == 3);
  queue.cancel(again);
  CHECK(queue.empty());
}

TEST_CASE("many random events come sorted") {
  std::mt19937 random(1);
  EventQueue queue;
  std::vector<double> expected;
  std::vector<std::pair<EventHandle, double>> alive;
  for (int i = 0; i < 2000; ++i) {
    const double at = static_cast<double>(random() % 500);
    alive.emplace_back(queue.add({at, 0, 0}), at);
    if (random() % 3 == 0) {
      std::swap(alive[random() % alive.size()], alive.back());
      queue.cancel(alive.back().first);
      alive.pop_back();
    }
  }
  for (const auto& [event, at] : alive) expected.push_back(at);
  std::sort(expected.begin(), expected.end());
  std::vector<double> taken;
  while (!queue.empty()) taken.push_back(queue.take().at);
  CHECK(taken == expected);
}
