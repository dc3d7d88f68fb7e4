// EventQueue: what is to happen, in order of time; what was added first of equal times.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrain::sim::engine {

struct EventHandle {
  std::uint32_t slot = 0;
};

class EventQueue {
 public:
  struct Event {
    double at = 0;
    std::uint64_t name = 0;  // the caller's, as is `sort`
    std::uint8_t sort = 0;
  };

  EventHandle add(const Event& event);
  // Of an event that has neither been taken nor cancelled.
  void cancel(EventHandle event);

  [[nodiscard]] bool empty();
  [[nodiscard]] double next_at();  // of a queue that is not empty
  Event take();                    // the next, of a queue that is not empty

 private:
  // An entry whose slot has gone on to another event was cancelled.
  struct Entry {
    double at = 0;
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
  };
  struct Slot {
    Event event;
    std::uint64_t order = 0;  // of the entry that holds it; 0 = free
  };
  static bool is_later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  void drop_cancelled();
  void drop_first();

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t added_ = 0;
};

}  // namespace foretrain::sim::engine
