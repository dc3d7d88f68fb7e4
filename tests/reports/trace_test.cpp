#include "reports/trace.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/catch.h"

namespace foretrain::reports {
namespace {

// Two stages: the first computes for 1 ms (0.75 forward, 0.25 an all-reduce) and sends for 0.2 ms, then the second
// computes for 2 ms after a launch of 0.1 ms.
struct TwoStages {
  sim::Job job;
  sim::Timeline timeline;
  std::vector<sim::Traffic> traffic = {{0, 4e6}};

  TwoStages() {
    sim::Program first, second;
    first.rank_class = "stage 0";
    const auto compute = first.add_stream("compute", sim::StreamKind::compute);
    const auto sends = first.add_stream("send \"activations\"", sim::StreamKind::communication);
    const auto pair = first.add_communicator("activations from stage 0");
    const auto mixture = first.add_mixture({{sim::Category::forward, {}, {}, 7.5e-4},
                                            {sim::Category::communication, calibrate::CollectiveKind::all_reduce, {}, 2.5e-4}});
    const auto pass = first.add_mixed(compute, sim::Category::forward, first.add_label("forward pass"), mixture);
    first.activities[pass].allocates_bytes = 1e6;
    first.add_collective(sends, pair, calibrate::CollectiveKind::send_receive, Bytes(4e6),
                         first.add_label("send activations"), {pass});
    first.resident_bytes = 5e6;

    second.rank_class = "stage 1";
    const auto host = second.add_stream("host", sim::StreamKind::host);
    const auto kernels = second.add_stream("compute", sim::StreamKind::compute);
    const auto receives = second.add_stream("receive", sim::StreamKind::communication);
    second.add_communicator("activations from stage 0");
    const auto received = second.add_collective(receives, 0, calibrate::CollectiveKind::send_receive, Bytes(4e6),
                                                second.add_label("receive activations"));
    const auto launch = second.add_timed(host, sim::Category::launch, second.add_label("launch"), {Seconds(1e-4), {}});
    second.add_timed(kernels, sim::Category::forward, second.add_label("dense"), {Seconds(2e-3), {}},
                     {received, launch});

    job.programs = {first, second};
    job.ranks = 2;
    sim::RankInstance one, two;
    two.program = 1;
    two.rank = 1;
    one.group_of_communicator = two.group_of_communicator = {0};
    job.instances = {one, two};
    sim::Group group;
    group.communicator = "activations from stage 0";
    group.shape.ranks = 2;
    group.members = {0, 1};
    job.groups = {group};

    timeline.first_of = {0, 2};
    timeline.spans = {{0, 1e-3}, {1e-3, 1.2e-3}, {0, 1.2e-3}, {0, 1e-4}, {1.2e-3, 3.2e-3}};
    timeline.collective_of = {sim::no_span, 0, 0, sim::no_span, sim::no_span};
    timeline.collectives = {{0, 1e-3, 1.1e-3, 1.2e-3, {}, {}}};
    timeline.step_seconds = 3.2e-3;
  }
  [[nodiscard]] Json events() const {
    return parse_json(trace_json(job, timeline, traffic), "trace").at("traceEvents");
  }
};

TEST_CASE("a trace has a process per rank and a thread per stream, with their names") {
  std::map<int, std::string> processes;
  std::set<std::string> threads;
  for (const Json& event : TwoStages().events()) {
    if (event.at("ph") != "M") continue;
    if (event.at("name") == "process_name") processes[event.at("pid")] = event.at("args").at("name");
    if (event.at("name") == "thread_name") threads.insert(event.at("args").at("name").get<std::string>());
  }
  CHECK(processes == std::map<int, std::string>{{0, "rank 0 (stage 0)"}, {1, "rank 1 (stage 1)"}});
  CHECK(threads.count("send \"activations\"") == 1);
}

TEST_CASE("slices of a thread lie beside or within one another, and parts fill their annotation") {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> open;
  double parts = 0;
  for (const Json& event : TwoStages().events()) {
    if (event.at("ph") != "X") continue;
    const double start = event.at("ts"), end = start + event.at("dur").get<double>();
    auto& within = open[{event.at("pid"), event.at("tid")}];
    while (!within.empty() && within.back().second <= start + 1e-9) within.pop_back();
    if (!within.empty()) {
      CHECK(end <= within.back().second + 1e-3);
      parts += end - start;
    }
    within.emplace_back(start, end);
  }
  CHECK(parts == Approx(1000));  // µs: 750 of forward and 250 of an all-reduce in the pass of 1 ms
}

TEST_CASE("arrows lead from the sender to the receiver and from launches to kernels") {
  std::map<std::string, std::map<int, std::pair<int, int>>> arrows;  // by category and id: from and to process
  for (const Json& event : TwoStages().events()) {
    if (event.at("ph") == "s") arrows[event.at("cat")][event.at("id")].first = event.at("pid");
    if (event.at("ph") == "f") arrows[event.at("cat")][event.at("id")].second = event.at("pid");
  }
  REQUIRE(arrows["send_receive"].size() == 1);
  CHECK(arrows["send_receive"].begin()->second == std::pair(0, 1));
  REQUIRE(arrows["ac2g"].size() == 1);
  CHECK(arrows["ac2g"].begin()->second == std::pair(1, 1));
}

TEST_CASE("counters show memory and what links carry") {
  double memory = 0, most = 0;
  for (const Json& event : TwoStages().events()) {
    if (event.at("ph") != "C") continue;
    if (event.at("name") == "memory" && event.at("pid") == 0) memory = event.at("args").at("allocated_bytes");
    if (event.at("name") == "link use between nodes") {
      most = std::max(most, event.at("args").at("gbytes_per_s").get<double>());
    }
  }
  CHECK(memory == 6e6);
  CHECK(most == Approx(40));  // 4 MB in the 0.1 ms after the latency
}

TEST_CASE("collectives carry the names that readers of Kineto traces look for") {
  int found = 0;
  for (const Json& event : TwoStages().events()) {
    if (event.at("ph") != "X" || event.at("name") != "ncclDevKernel_SendRecv") continue;
    ++found;
    CHECK(event.at("cat") == "kernel");
    CHECK(event.at("args").at("Collective name") == "send_receive");
    CHECK(event.at("args").at("Process Group Name") == "activations from stage 0");
    CHECK(event.at("args").at("Group size") == 2);
  }
  CHECK(found == 2);
}

}  // namespace
}  // namespace foretrain::reports
