// Simulation: timers and flows over links that are shared max-min, of which SimGrid gets what needs it.
//
// A flow that is alone on all of its links goes at the smallest capacity on its route, so that its end is known and
// is a timer. When another one starts on one of its links, what is left of it becomes a flow of SimGrid. So does what
// starts beside others; SimGrid decides how they share. While it has no flow, its clock stands still and time goes
// from timer to timer here; it is called up to date before it gets the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/lone_flows.h"
#include "sim/engine/session.h"

namespace foretrain::sim::engine {

struct RouteHandle {
  std::uint32_t index = 0;
};

class Simulation final : private SessionListener {
 public:
  // `listener` hears of timers and ends of flows in order of time. No event is later than `longest`, which is finite.
  Simulation(SessionListener& listener, Seconds longest, LoneFlows lone_flows = LoneFlows::as_timers);

  LinkHandle add_link(BytesPerSecond capacity);
  RouteHandle add_route(const std::vector<LinkShare>& route);  // not empty

  // `at` is in seconds since the start and not in the past.
  EventHandle set_timer(double at, Token token);
  // A timer that has rung or was cancelled must not be cancelled again.
  void cancel(EventHandle timer) { queue_.cancel(timer); }

  // Sends from then on. Throws Error when the flow is too large for SimGrid, here or later.
  void start_flow(double at, Bytes bytes, RouteHandle route, Token token);

  // Runs until nothing is left to happen. What the listener throws passes through and ends the simulation.
  void run();
  [[nodiscard]] std::uint64_t events() const { return events_; }  // timers rung and flows ended

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  struct Link {
    double capacity = 0;
    std::uint32_t alone = none;  // the flow that has it to itself, or will from its `begin` on
    std::uint32_t shared = 0;    // flows of SimGrid on it
  };
  struct Route {
    std::vector<LinkShare> links;
    BytesPerSecond rate;  // alone
  };
  enum class State : std::uint8_t { waiting, alone, shared };
  struct Flow {
    State state = State::waiting;
    std::uint32_t route = 0;
    Token token = 0;
    Bytes bytes;
    double begin = 0, end = 0;  // while alone
    EventHandle event;          // its begin while waiting, its end while alone
  };

  void on_timer(Token token, double at) override;
  void on_flow_end(Token token, double at) override;

  [[nodiscard]] std::uint32_t new_flow(Bytes bytes, RouteHandle route, Token token);
  [[nodiscard]] bool is_free(const Route& route) const;
  void wait(std::uint32_t flow, double until);
  void begin(std::uint32_t flow);
  void go_alone(std::uint32_t flow, double from);
  void give_way(std::uint32_t flow);
  void share(std::uint32_t flow, Bytes bytes);
  void send(std::uint32_t flow, Bytes bytes);
  void end(std::uint32_t flow);

  void take_next();
  void proceed();
  void wake_session(double at);

  SessionListener& listener_;
  LoneFlows lone_flows_;
  Session session_;
  EventQueue queue_;
  std::vector<Link> links_;
  std::vector<Route> routes_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_flows_;
  std::uint64_t events_ = 0;

  double now_ = 0;
  double session_now_ = 0;          // where SimGrid's clock stands
  std::uint32_t on_session_ = 0;    // flows that SimGrid has
  struct Start {
    std::uint32_t flow = 0;
    Bytes bytes;
  };
  std::vector<Start> starts_;  // that wait for SimGrid's clock to come to now_
  bool is_alarm_set_ = false;
  double alarm_at_ = 0;
  TimerHandle alarm_;  // that wakes us while SimGrid runs
};

}  // namespace foretrain::sim::engine
