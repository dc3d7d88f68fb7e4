#include "sim/engine/event_queue.h"

#include <algorithm>
#include <cassert>

namespace foretrain::sim::engine {

EventHandle EventQueue::add(const Event& event) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {event, ++added_};
  heap_.push_back({event.at, added_, slot});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
  return {slot};
}

void EventQueue::cancel(EventHandle event) {
  assert(slots_[event.slot].order != 0);
  slots_[event.slot].order = 0;
  free_slots_.push_back(event.slot);
}

bool EventQueue::empty() {
  drop_cancelled();
  return heap_.empty();
}

double EventQueue::next_at() {
  drop_cancelled();
  return heap_.front().at;
}

EventQueue::Event EventQueue::take() {
  drop_cancelled();
  const std::uint32_t slot = heap_.front().slot;
  drop_first();
  slots_[slot].order = 0;
  free_slots_.push_back(slot);
  return slots_[slot].event;
}

void EventQueue::drop_cancelled() {
  while (!heap_.empty() && slots_[heap_.front().slot].order != heap_.front().order) drop_first();
}

void EventQueue::drop_first() {
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  heap_.pop_back();
}

}  // namespace foretrain::sim::engine
