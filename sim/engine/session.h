// Session: one simulation on SimGrid, reduced to the two things the engine needs: a clock with timers
// and a fluid network that shares links max-min.
//
// Links have no latency (latencies are timers, else SimGrid weights sharing by round-trip time); a flow
// that crosses a link with weight k takes k units of its capacity per unit of rate. Everything runs in
// callbacks, without actors. At most one session exists at a time; SimGrid is not thread-safe.
//
// Time starts at zero in every session, so that a replay does not depend on those before it. Inside,
// time is counted in a power-of-two unit chosen from `longest`, which keeps SimGrid's absolute timing
// precision (1e-9) below 1e-14 of `longest` and above the rounding of its clock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"

namespace foretrain::sim::engine {

using Token = std::uint64_t;  // the caller's name for a timer or a flow

struct LinkHandle {
  std::uint32_t index = 0;
};
struct TimerHandle {
  void* timer = nullptr;
};
struct LinkShare {
  LinkHandle link;
  std::uint32_t weight = 1;
};

// Receives what happens, in order of time; `at` never decreases.
class SessionListener {
 public:
  virtual void on_timer(Token token, double at) = 0;
  virtual void on_flow_end(Token token, double at) = 0;

 protected:
  ~SessionListener() = default;
};

class Session {
 public:
  // No event is later than `longest`, which is finite.
  Session(SessionListener& listener, Seconds longest);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  LinkHandle add_link(BytesPerSecond capacity);

  // `at` is in seconds since the session's start and not in the past. A timer that has rung or was
  // cancelled must not be cancelled again.
  TimerHandle set_timer(double at, Token token);
  void cancel(TimerHandle timer);

  // Starts to send now. `route` is not empty. Throws Error when the flow is too large for SimGrid's
  // 64-bit sizes (137 TB).
  void start_flow(Bytes bytes, const std::vector<LinkShare>& route, Token token);

  // Runs until nothing is left to happen. What a listener throws passes through and ends the session (SimGrid
  // leaks the one timer it was in).
  void run();
  [[nodiscard]] std::uint64_t events() const;  // timers rung and flows ended

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrain::sim::engine
