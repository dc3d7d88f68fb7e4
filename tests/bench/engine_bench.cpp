// How fast the engine replays and folds. Built with the tests, run by hand: bench-engine
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/engine/replay.h"
#include "sim/fold.h"
#include "tests/sim/engine/test_jobs.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

double median_seconds(int repetitions, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// `activities` launches and kernels in equal numbers, `collectives` buckets among them.
Program step(int activities, int collectives) {
  TestProgram rank;
  for (int i = 0; i < activities / 2; ++i) {
    const ActivityIndex kernel = rank.kernel(30e-6, {rank.launch(10e-6)});
    if ((i + 1) % (activities / 2 / collectives) == 0) rank.all_reduce("data", 25e6, {kernel});
  }
  rank.program.compute_rate_while_communicating = 0.9;
  return rank.program;
}

void bench_replay(const char* name, const Job& job, int repetitions) {
  std::uint64_t events = 0;
  const double seconds = median_seconds(repetitions, [&] { events = replay(job, RingPlanner(2e-6)).events; });
  fmt::print("{:<52} {:8.2f} ms {:9} events {:6.2f} M events/s\n", name, seconds * 1e3, events,
             static_cast<double>(events) / seconds * 1e-6);
}

void bench_fold(int gpus, bool tensor_groups) {
  TestNetwork network(gpus, 8, calibrate::IntraNode::nvswitch, 8);
  network.cluster.nodes_per_leaf = 16;
  network.cluster.oversubscription = 2;
  const Topology topology = network.topology();
  Placement placement;
  placement.class_of_rank.assign(static_cast<std::size_t>(gpus), 0);
  placement.stretch_of_rank.assign(static_cast<std::size_t>(gpus), 1.0);
  placement.stretch_of_rank[0] = 1.1;
  Program program;
  program.add_communicator("data");
  if (tensor_groups) {
    program.add_communicator("tensor");
    placement.communicators = {{"data", {}}, {"tensor", {}}};
    for (int i = 0; i < 8; ++i) placement.communicators[0].groups.push_back(ranks(i, gpus / 8, 8));
    for (int i = 0; i < gpus; i += 8) placement.communicators[1].groups.push_back(ranks(i, 8));
  } else {
    placement.communicators = {{"data", {ranks(0, gpus)}}};
  }
  Job every_rank, folded;
  const double expanding = median_seconds(3, [&] { every_rank = expand({program}, placement, topology); });
  const double folding = median_seconds(3, [&] { folded = fold({program}, placement, topology); });
  fmt::print("{:<52} {:8.2f} ms, of which expand {:8.2f} ms; {} ranks, {} groups left\n",
             fmt::format("fold {} ranks{}", gpus, tensor_groups ? ", tensor groups of 8" : ""), folding * 1e3,
             expanding * 1e3, folded.instances.size(), folded.groups.size());
}

}  // namespace

int main() {
  bench_replay("1 rank, 2,000 activities, 6 collectives", ring_job(step(2000, 6), 1), 50);
  Job representative = ring_job(step(2000, 6), 1);
  representative.groups[0].shape.ranks = 1024;
  bench_replay("1 representative of 1,024, the same", representative, 50);
  bench_replay("8 ranks, 4,000 activities, 40 collectives", ring_job(step(4000, 40), 8), 20);
  bench_replay("64 ranks, 4,000 activities, 40 collectives", ring_job(step(4000, 40), 64), 5);
  for (const int gpus : {1024, 65536}) {
    bench_fold(gpus, false);
    bench_fold(gpus, true);
  }
}
