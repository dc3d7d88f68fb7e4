// Flows alone on their links are timers: the results are those of SimGrid running every flow.
#include "sim/engine/simulation.h"

#include <cmath>
#include <random>

#include "sim/fold.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

struct Log final : SessionListener {
  std::vector<std::pair<Token, double>> flows, timers;
  void on_timer(Token token, double at) override { timers.emplace_back(token, at); }
  void on_flow_end(Token token, double at) override { flows.emplace_back(token, at); }
  [[nodiscard]] double end(Token token) const {
    for (const auto& [which, at] : flows) {
      if (which == token) return at;
    }
    return -1;
  }
};

// Links of 10, 20 and 40 GB/s.
struct Sent {
  double at = 0, gbytes = 0;
  std::vector<LinkShare> route;
};
Log log_of(const std::vector<Sent>& flows, LoneFlows lone_flows = LoneFlows::as_timers) {
  Log log;
  Simulation simulation(log, Seconds(100), lone_flows);
  for (const double capacity : {10.0, 20.0, 40.0}) simulation.add_link(gbytes_per_s(capacity));
  for (std::size_t i = 0; i < flows.size(); ++i) {
    simulation.start_flow(flows[i].at, Bytes(flows[i].gbytes * 1e9), simulation.add_route(flows[i].route), i);
  }
  simulation.run();
  return log;
}

constexpr LinkShare narrow{{0}, 1}, middle{{1}, 1}, wide{{2}, 1};

}  // namespace

TEST_CASE("a lone flow goes at the smallest capacity of its route") {
  CHECK(log_of({{0, 40, {wide, middle}}}).end(0) == Approx(2).epsilon(1e-12));
  CHECK(log_of({{1, 40, {wide, narrow, middle}}}).end(0) == Approx(1 + 4).epsilon(1e-12));
  CHECK(log_of({{0, 40, {{{2}, 8}, middle}}}).end(0) == Approx(8).epsilon(1e-12));  // 40 / 8 GB/s
  CHECK(log_of({{0, 40, {{{2}, 4}, {{2}, 4}}}}).end(0) == Approx(8).epsilon(1e-12));
}

TEST_CASE("flows on different links know nothing of each other") {
  const Log log = log_of({{0, 40, {narrow}}, {1, 40, {middle}}, {2, 40, {wide}}});
  CHECK(log.end(0) == Approx(4).epsilon(1e-12));
  CHECK(log.end(1) == Approx(3).epsilon(1e-12));
  CHECK(log.end(2) == Approx(3).epsilon(1e-12));
}

TEST_CASE("a second flow takes its share from a lone one") {
  // 100 GB at 20 GB/s; after 2 s, 60 are left and 20 others come: 2 s at 10 each, then 40 at 20.
  const Log log = log_of({{0, 100, {middle}}, {2, 20, {middle}}});
  CHECK(log.end(1) == Approx(4).epsilon(1e-12));
  CHECK(log.end(0) == Approx(6).epsilon(1e-12));
}

TEST_CASE("a lone flow gives way on one of its links only") {
  // 60 GB over wide and middle at 20/s from 0 on. At 1 s one joins on wide (40/s): both go at 20, nothing changes.
  const Log log = log_of({{0, 60, {wide, middle}}, {1, 20, {wide}}});
  CHECK(log.end(0) == Approx(3).epsilon(1e-12));
  CHECK(log.end(1) == Approx(2).epsilon(1e-12));
}

TEST_CASE("one that is to begin later does not keep the link") {
  // The first begins at 5 s; the second has the link from 1 to 3 s.
  const Log log = log_of({{5, 20, {middle}}, {1, 40, {middle}}});
  CHECK(log.end(1) == Approx(3).epsilon(1e-12));
  CHECK(log.end(0) == Approx(6).epsilon(1e-12));
  // The second is still there at 5 s: 20 of its 100 GB are left, 2 s for each 20 at 10 GB/s.
  const Log both = log_of({{5, 20, {middle}}, {1, 100, {middle}}});
  CHECK(both.end(0) == Approx(7).epsilon(1e-12));
  CHECK(both.end(1) == Approx(7).epsilon(1e-12));
}

TEST_CASE("a flow that begins when another ends does not meet it") {
  const Log log = log_of({{0, 40, {middle}}, {2, 40, {middle}}});
  CHECK(log.end(0) == Approx(2).epsilon(1e-12));
  CHECK(log.end(1) == Approx(4).epsilon(1e-12));
}

TEST_CASE("timers and flows come in order of time, whoever keeps them") {
  Log log;
  Simulation simulation(log, Seconds(100));
  simulation.add_link(BytesPerSecond(10));
  const RouteHandle route = simulation.add_route({{{0}, 1}});
  for (int i = 0; i < 2; ++i) simulation.start_flow(1, Bytes(10), route, static_cast<Token>(i));  // both end at 3 s
  for (const double at : {4.0, 0.5, 2.0}) simulation.set_timer(at, static_cast<Token>(at * 10));
  simulation.cancel(simulation.set_timer(1.5, 99));
  simulation.start_flow(3.5, Bytes(5), route, 2);  // alone again, to 4 s
  simulation.run();
  CHECK(log.timers == std::vector<std::pair<Token, double>>{{5, 0.5}, {20, 2.0}, {40, 4.0}});
  CHECK(log.end(0) == Approx(3).epsilon(1e-12));
  CHECK(log.end(1) == Approx(3).epsilon(1e-12));
  CHECK(log.end(2) == Approx(4).epsilon(1e-12));
  CHECK(simulation.events() == 6);
}

TEST_CASE("random flows end when SimGrid alone says they do") {
  std::mt19937 random(3);
  const auto real = [&](double most) {
    return most * (1 + static_cast<double>(random())) / static_cast<double>(std::mt19937::max());
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Sent> flows;
    for (int i = 0; i < 12; ++i) {
      Sent flow{std::floor(real(8)), real(100), {}};
      for (const LinkShare link : {narrow, middle, wide}) {
        if (random() % 2 == 0) flow.route.push_back({link.link, 1 + static_cast<std::uint32_t>(random() % 3)});
      }
      if (flow.route.empty()) flow.route.push_back(wide);
      flows.push_back(flow);
    }
    const Log timers = log_of(flows), simgrid = log_of(flows, LoneFlows::on_simgrid);
    CAPTURE(round);
    for (Token flow = 0; flow < flows.size(); ++flow) {
      REQUIRE(timers.end(flow) == Approx(simgrid.end(flow)).epsilon(1e-9));
    }
  }
}

namespace {

// Groups of random ranks with rings through shared links, called in random programs of two communicators.
Job random_job(std::mt19937& random) {
  const auto real = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
  };
  const std::uint32_t ranks = 2 + random() % 7;
  TestProgram rank;
  const std::uint16_t second = rank.program.add_stream("second communication", StreamKind::communication);
  std::vector<ActivityIndex> done;
  for (int i = 0; i < 10; ++i) {
    std::vector<ActivityIndex> waits;
    if (!done.empty() && random() % 2 == 0) waits.push_back(done[random() % done.size()]);
    switch (random() % 3) {
      case 0: done.push_back(rank.kernel(real(1e-4, 1e-2), waits)); break;
      case 1: done.push_back(rank.all_reduce("a", real(1e3, 1e9), waits)); break;
      default:
        done.push_back(rank.program.add_collective(second, rank.program.add_communicator("b"),
                                                   calibrate::CollectiveKind::all_gather, Bytes(real(1e3, 1e9)),
                                                   rank.program.add_label("b"), waits));
    }
  }
  rank.program.compute_rate_while_communicating = real(0.5, 1);
  Job job = ring_job(rank.program, static_cast<int>(ranks));
  for (RankInstance& instance : job.instances) instance.stretch = real(1, 2);
  // Some flows go over links of others, with other weights.
  for (Group& group : job.groups) {
    for (FlowTemplate& flow : group.flows) {
      flow.share = real(0.1, 1);
      if (random() % 3 != 0) continue;
      const auto link = static_cast<std::uint32_t>(random() % job.links.size());
      if (link != flow.route[0].link && link != flow.route[1].link) {
        flow.route.push_back({link, 1 + static_cast<std::uint32_t>(random() % 3)});
      }
    }
  }
  return job;
}

}  // namespace

TEST_CASE("random jobs take the same time whether lone flows are timers or not") {
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round) {
    const Job job = random_job(random);
    PlainPlanner planner;
    planner.alpha = round % 2 == 0 ? 0 : 1e-3;
    const Timeline timers = replay(job, planner);
    const Timeline simgrid = replay(job, planner, {Fidelity::fluid, nullptr, LoneFlows::on_simgrid});
    CAPTURE(round);
    double worst = 0;
    for (std::size_t s = 0; s < timers.spans.size(); ++s) {
      worst = std::max({worst, std::abs(timers.spans[s].start - simgrid.spans[s].start),
                        std::abs(timers.spans[s].finish - simgrid.spans[s].finish)});
    }
    REQUIRE(worst <= 1e-9 * simgrid.step_seconds);
  }
}

TEST_CASE("a draw changes the rate of lone flows") {
  TestProgram rank;
  rank.all_reduce("data", 50e9);
  const Draw draw = {1, 1, 1, 1.5};  // of links
  CHECK(replay(ring_job(rank.program, 2), PlainPlanner(), {Fidelity::fluid, &draw}).step_seconds ==
        Approx(1.5).epsilon(1e-12));
}
