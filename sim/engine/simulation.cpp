#include "sim/engine/simulation.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace foretrain::sim::engine {
namespace {

// Sorts of events in the queue.
constexpr std::uint8_t timer_event = 0, flow_event = 1;

}  // namespace

Simulation::Simulation(SessionListener& listener, Seconds longest, LoneFlows lone_flows)
    : listener_(listener), lone_flows_(lone_flows), session_(*this, longest) {}

LinkHandle Simulation::add_link(BytesPerSecond capacity) {
  links_.push_back({capacity.value});
  return session_.add_link(capacity);
}

RouteHandle Simulation::add_route(const std::vector<LinkShare>& route) {
  assert(!route.empty());
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& share : route) {
    std::uint64_t weight = 0;
    for (const LinkShare& same : route) weight += same.link.index == share.link.index ? same.weight : 0;
    rate = std::min(rate, links_[share.link.index].capacity / static_cast<double>(weight));
  }
  routes_.push_back({route, BytesPerSecond(rate)});
  return {static_cast<std::uint32_t>(routes_.size() - 1)};
}

EventHandle Simulation::set_timer(double at, Token token) { return queue_.add({at, token, timer_event}); }

// --- flows --------------------------------------------------------------------------------------

void Simulation::start_flow(double at, Bytes bytes, RouteHandle route, Token token) {
  const std::uint32_t flow = new_flow(bytes, route, token);
  if (at <= now_) {
    begin(flow);
  } else if (is_free(routes_[route.index])) {
    go_alone(flow, at);
  } else {
    wait(flow, at);
  }
}

std::uint32_t Simulation::new_flow(Bytes bytes, RouteHandle route, Token token) {
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::uint32_t flow = free_flows_.back();
  free_flows_.pop_back();
  flows_[flow] = {State::waiting, route.index, token, bytes, 0, 0, {}};
  return flow;
}

bool Simulation::is_free(const Route& route) const {
  return lone_flows_ == LoneFlows::as_timers &&
         std::all_of(route.links.begin(), route.links.end(), [&](const LinkShare& share) {
           const Link& link = links_[share.link.index];
           return link.shared == 0 && link.alone == none;
         });
}

void Simulation::wait(std::uint32_t flow, double until) {
  flows_[flow].state = State::waiting;
  flows_[flow].event = queue_.add({until, flow, flow_event});
}

void Simulation::begin(std::uint32_t flow) {
  const Route& route = routes_[flows_[flow].route];
  for (const LinkShare& share : route.links) {
    if (links_[share.link.index].alone != none) give_way(links_[share.link.index].alone);
  }
  if (is_free(route)) {
    go_alone(flow, now_);
  } else {
    share(flow, flows_[flow].bytes);
  }
}

void Simulation::go_alone(std::uint32_t flow, double from) {
  Flow& lone = flows_[flow];
  lone.state = State::alone;
  lone.begin = from;
  lone.end = from + (lone.bytes / routes_[lone.route].rate).value;
  lone.event = queue_.add({lone.end, flow, flow_event});
  for (const LinkShare& share : routes_[lone.route].links) links_[share.link.index].alone = flow;
}

// To one that begins now on one of its links.
void Simulation::give_way(std::uint32_t flow) {
  Flow& lone = flows_[flow];
  for (const LinkShare& share : routes_[lone.route].links) links_[share.link.index].alone = none;
  if (now_ >= lone.end) return;  // its end is among the events of this instant
  queue_.cancel(lone.event);
  if (now_ < lone.begin) {
    wait(flow, lone.begin);
  } else {
    share(flow, lone.bytes * ((lone.end - now_) / (lone.end - lone.begin)));
  }
}

void Simulation::share(std::uint32_t flow, Bytes bytes) {
  flows_[flow].state = State::shared;
  for (const LinkShare& share : routes_[flows_[flow].route].links) ++links_[share.link.index].shared;
  if (now_ == session_now_) {
    send(flow, bytes);
  } else {
    starts_.push_back({flow, bytes});
  }
}

void Simulation::send(std::uint32_t flow, Bytes bytes) {
  ++on_session_;
  session_.start_flow(bytes, routes_[flows_[flow].route].links, flow);
}

void Simulation::end(std::uint32_t flow) {
  for (const LinkShare& share : routes_[flows_[flow].route].links) {
    Link& link = links_[share.link.index];
    if (flows_[flow].state == State::shared) --link.shared;
    if (link.alone == flow) link.alone = none;
  }
  free_flows_.push_back(flow);
  ++events_;
  listener_.on_flow_end(flows_[flow].token, now_);
}

// --- time ---------------------------------------------------------------------------------------

void Simulation::run() {
  proceed();
  session_.run();
}

void Simulation::take_next() {
  const EventQueue::Event event = queue_.take();
  now_ = std::max(now_, event.at);
  if (event.sort == timer_event) {
    ++events_;
    listener_.on_timer(event.name, now_);
    return;
  }
  const auto flow = static_cast<std::uint32_t>(event.name);
  flows_[flow].state == State::waiting ? begin(flow) : end(flow);
}

// All that happens without SimGrid; then, or when it has flows, SimGrid runs until its next flow ends or it wakes us.
void Simulation::proceed() {
  while (!queue_.empty()) {
    const double next = queue_.next_at();
    if (next > now_ && !starts_.empty()) break;
    if (next > now_ && on_session_ > 0) return wake_session(next);
    take_next();
  }
  if (!starts_.empty()) wake_session(now_);
}

void Simulation::wake_session(double at) {
  if (is_alarm_set_ && alarm_at_ <= at) return;
  if (is_alarm_set_) session_.cancel(alarm_);
  is_alarm_set_ = true;
  alarm_at_ = at;
  alarm_ = session_.set_timer(at, Token{0});
}

void Simulation::on_timer(Token, double at) {
  is_alarm_set_ = false;
  if (at < now_) return proceed();  // set before SimGrid ran out of flows
  session_now_ = now_ = at;
  for (const Start& start : starts_) send(start.flow, start.bytes);
  starts_.clear();
  proceed();
}

void Simulation::on_flow_end(Token token, double at) {
  session_now_ = now_ = std::max(now_, at);
  --on_session_;
  end(static_cast<std::uint32_t>(token));
  proceed();
}

}  // namespace foretrain::sim::engine
