#include "sim/engine/session.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <string>

#include <fmt/format.h>
#include <xbt/log.h>
#include <simgrid/kernel/Timer.hpp>

#include "base/error.h"
#include "sim/engine/signal_guard.h"
#include "sim/engine/simgrid_compat.h"

namespace foretrain::sim::engine {
namespace {

using simgrid::kernel::resource::StandardLinkImpl;
using simgrid::kernel::routing::NetPoint;
using simgrid::kernel::routing::Route;
using simgrid::kernel::timer::Timer;
namespace s4u = simgrid::s4u;

// SimGrid takes sizes as whole bytes in 64 bits: in units of 2^-16 bytes, what is cut off is below 1e-9 of all
// that takes longer than its latency.
constexpr double units_per_byte = 65536.0;
constexpr double most_units = 9.0e18;  // below 2^63

// SimGrid's default timing precision (surf/precision) stands for 1e-9 of our time units. With at most 2^20
// of them in a session its clock is exact to 2^-33 < 1e-9: events are neither merged nor missed.
constexpr double timing_precision = 1e-9;
constexpr int longest_in_units_log2 = 20;

double time_units_per_second(Seconds longest) {
  if (longest.value <= 0.0) return 1.0;
  return std::exp2(longest_in_units_log2 - std::ceil(std::log2(longest.value)));
}

// One flat zone in which the next flow's route is whatever was said last: routes come from the job.
class RouteZone : public simgrid::kernel::routing::NetZoneImpl {
 public:
  explicit RouteZone(const std::string& name) : NetZoneImpl(name) {}

  std::vector<StandardLinkImpl*> next_route;

 private:
  void get_local_route(const NetPoint*, const NetPoint*, Route* into, double*) override {
    into->link_list_ = next_route;
  }
};

struct LiveFlow {
  s4u::CommPtr comm;
  Token token = 0;
};

}  // namespace

class Session::Impl {
 public:
  Impl(SessionListener& listener, Seconds longest);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  LinkHandle add_link(BytesPerSecond capacity);
  TimerHandle set_timer(double at, Token token);
  void start_flow(Bytes bytes, const std::vector<LinkShare>& route, Token token);
  void run();

  std::uint64_t events = 0;

 private:
  void configure_process();
  void rewind_clock();
  void end_flow(const s4u::Activity& activity);
  [[nodiscard]] double now() const { return (s4u::Engine::get_clock() - clock_start_) / units_; }

  // SimGrid's signals belong to the process and cannot be disconnected: they reach the one live session here.
  inline static Impl* current = nullptr;

  SessionListener& listener_;
  double units_;  // of time, per second
  double clock_start_ = 0.0;
  std::unique_ptr<s4u::Engine> engine_;
  RouteZone* zone_ = nullptr;  // owned by the engine
  s4u::Host* sender_ = nullptr;
  s4u::Host* receiver_ = nullptr;
  std::vector<s4u::Link*> links_;
  std::deque<LiveFlow> flows_;  // a deque, because SimGrid keeps their addresses
  std::vector<LiveFlow*> free_flows_;
  // SimGrid is still inside a communication when it reports its end; it is dropped when the clock moves on.
  std::vector<s4u::CommPtr> graveyard_;
};

Session::Impl::Impl(SessionListener& listener, Seconds longest)
    : listener_(listener), units_(time_units_per_second(longest)) {
  assert(current == nullptr && std::isfinite(longest.value));
  const SignalGuard keep_our_signal_handlers;
  configure_process();
  rewind_clock();
  s4u::NetZone* root = compat::root_zone(*engine_);
  zone_ = new RouteZone("cluster");
  zone_->set_parent(root->get_impl());
  sender_ = compat::add_host(*zone_, "sender");
  receiver_ = compat::add_host(*zone_, "receiver");
  current = this;
}

Session::Impl::~Impl() {
  current = nullptr;
  // After an exception some flows are still going; SimGrid complains about those that are dropped uncancelled.
  for (const LiveFlow& flow : flows_) {
    if (flow.comm != nullptr) flow.comm->cancel();
  }
  graveyard_.clear();
  flows_.clear();
  engine_.reset();
}

// Models and signals are set once per process (SimGrid refuses a second time); the engine itself reads no
// command line but this one, so that it never takes options of the program.
void Session::Impl::configure_process() {
  static bool configured = false;
  if (!configured) xbt_log_control_set("root.thresh:critical");
  static char name[] = "foretrain";
  char* arguments[] = {name, nullptr};
  int count = 1;
  engine_ = std::make_unique<s4u::Engine>(&count, arguments);
  if (configured) return;
  configured = true;
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:0");
  // Flows that take less than this share of a link are not lost in rounding; sums over flows stay exact to 1e-11.
  s4u::Engine::set_config("maxmin/precision:1e-9");
  s4u::Comm::on_completion_cb([](const s4u::Activity& activity) {
    if (current != nullptr) current->end_flow(activity);
  });
  s4u::Engine::on_time_advance_cb([](double) {
    if (current != nullptr) current->graveyard_.clear();
  });
}

void Session::Impl::rewind_clock() {
  if (double* clock = compat::clock_variable()) {
    *clock = 0.0;
  } else {
    // The clock goes on from the last session: its rounding grows, and the precision has to stay above it.
    clock_start_ = s4u::Engine::get_clock();
    const double rounding = (clock_start_ + std::exp2(longest_in_units_log2)) * std::exp2(-50);
    s4u::Engine::set_config(fmt::format("surf/precision:{:.17g}", std::max(timing_precision, rounding)));
  }
}

LinkHandle Session::Impl::add_link(BytesPerSecond capacity) {
  assert(capacity.value > 0.0 && std::isfinite(capacity.value));
  const double units = capacity.value * units_per_byte / units_;
  s4u::Link* link = compat::add_link(*zone_, fmt::format("{}", links_.size()), units);
  link->set_latency(0.0);
  link->seal();
  links_.push_back(link);
  return {static_cast<std::uint32_t>(links_.size() - 1)};
}

TimerHandle Session::Impl::set_timer(double at, Token token) {
  const auto ring = [this, at, token] {
    ++events;
    listener_.on_timer(token, at);
  };
  return {Timer::set(clock_start_ + at * units_, ring)};
}

void Session::Impl::start_flow(Bytes bytes, const std::vector<LinkShare>& route, Token token) {
  assert(!route.empty());
  const double units = bytes.value * units_per_byte;
  if (!(units < most_units)) {
    throw Error(fmt::format("one transfer of {:.3g} TB is more than the simulator can count", bytes.value * 1e-12), {},
                fmt::format("the most is {:.3g} TB", most_units / units_per_byte * 1e-12), ExitCode::failed);
  }
  zone_->next_route.clear();
  for (const LinkShare& share : route) {
    zone_->next_route.insert(zone_->next_route.end(), share.weight, links_[share.link.index]->get_impl());
  }
  if (free_flows_.empty()) free_flows_.push_back(&flows_.emplace_back());
  LiveFlow* flow = free_flows_.back();
  free_flows_.pop_back();
  flow->token = token;
  flow->comm = s4u::Comm::sendto_init(sender_, receiver_);
  flow->comm->set_payload_size(static_cast<std::uint64_t>(units));
  flow->comm->set_data(flow);
  flow->comm->start();
}

void Session::Impl::end_flow(const s4u::Activity& activity) {
  auto* flow = static_cast<const s4u::Comm&>(activity).get_data<LiveFlow>();
  assert(flow->comm.get() == &activity && activity.get_state() == s4u::Activity::State::FINISHED);
  graveyard_.push_back(std::move(flow->comm));
  free_flows_.push_back(flow);
  ++events;
  listener_.on_flow_end(flow->token, now());
}

void Session::Impl::run() {
  zone_->seal();
  engine_->run();
}

Session::Session(SessionListener& listener, Seconds longest) : impl_(std::make_unique<Impl>(listener, longest)) {}
Session::~Session() = default;

LinkHandle Session::add_link(BytesPerSecond capacity) { return impl_->add_link(capacity); }
TimerHandle Session::set_timer(double at, Token token) { return impl_->set_timer(at, token); }
void Session::cancel(TimerHandle timer) { static_cast<Timer*>(timer.timer)->remove(); }
void Session::start_flow(Bytes bytes, const std::vector<LinkShare>& route, Token token) {
  impl_->start_flow(bytes, route, token);
}
void Session::run() { impl_->run(); }
std::uint64_t Session::events() const { return impl_->events; }

}  // namespace foretrain::sim::engine
