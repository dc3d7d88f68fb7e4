// What pipelines cost to fold and to replay, against GPUs, micro-batches and stages. Built with the tests, run by hand:
// bench-pipeline
#include <ctime>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "sim/engine/replay.h"
#include "sim/fold.h"
#include "tests/sim/engine/pipeline_jobs.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

// Processor time: other programs may run beside this one.
class Clock {
 public:
  // Since it was made or last asked.
  double seconds() {
    const std::clock_t now = std::clock();
    const double passed = static_cast<double>(now - since_) / CLOCKS_PER_SEC;
    since_ = now;
    return passed;
  }

 private:
  std::clock_t since_ = std::clock();
};

struct Cost {
  double expand = 0, fold = 0, replay = 0;  // seconds
  std::uint64_t events = 0;
  std::size_t transfers = 0;
  [[nodiscard]] double total() const { return expand + fold + replay; }
};

double most_resident_mbytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM", 0) == 0) return std::stod(line.substr(line.find(':') + 1)) / 1024;
  }
  return 0;
}

// Nodes of 8 GPUs with 1.6 Tb/s in so many NICs.
Cost cost(const Layout& layout, int micro_batches, bool folded, int nics = 8) {
  TestNetwork network(layout.ranks(), 8, calibrate::IntraNode::nvswitch, nics);
  network.cluster.machine.inter_node_bandwidth = gbits_per_s(8 * 200);
  const Topology topology = network.topology();
  const CollectiveCosts costs = network.costs(topology);
  PipelineStep step;
  step.micro_batches = micro_batches;
  std::vector<Program> programs = pipeline_programs(layout, step);
  const Placement placement = pipeline_placement(layout);
  Cost result;
  Clock clock;
  Job job = expand(std::move(programs), placement, topology);
  result.expand = clock.seconds();
  if (folded) job = fold(std::move(job));
  result.fold = clock.seconds();
  const Timeline timeline = replay(job, costs);
  result.replay = clock.seconds();
  result.events = timeline.events;
  result.transfers = timeline.collectives.size();
  return result;
}

// The fastest of `repetitions`.
Cost fastest(const Layout& layout, int micro_batches, bool folded, int repetitions) {
  Cost best = cost(layout, micro_batches, folded);
  for (int i = 1; i < repetitions; ++i) {
    const Cost again = cost(layout, micro_batches, folded);
    if (again.total() < best.total()) best = again;
  }
  return best;
}

double print(const std::string& what, const Cost& cost, double reference) {
  fmt::print("{:<48} {:8.1f} {:8.1f} {:8.1f} {:9.1f} ms {:6.2f}× {:9} transfers {:9} events\n", what,
             cost.expand * 1e3, cost.fold * 1e3, cost.replay * 1e3, cost.total() * 1e3,
             reference > 0 ? cost.total() / reference : 1.0, cost.transfers, cost.events);
  return reference > 0 ? reference : cost.total();
}

}  // namespace

int main() {
  fmt::print("{:<48} {:>8} {:>8} {:>8} {:>9}    ratio to the first of the block\n", "", "expand", "fold", "replay",
             "total");
  double reference = print("64 stages × 512 micro-batches, 3,072 GPUs, folded", cost(layout_of(8, 6, 64), 512, true), 0);
  fmt::print("most memory so far: {:.0f} MB\n", most_resident_mbytes());
  reference = 0;
  for (const int data : {1, 6, 24}) {
    reference = print(fmt::format("64 stages × 512 micro-batches, {} GPUs, folded", 8 * data * 64),
                      fastest(layout_of(8, data, 64), 512, true, 3), reference);
  }
  reference = 0;
  for (const int micro_batches : {128, 256, 512, 1024}) {
    reference = print(fmt::format("64 stages × {} micro-batches, 3,072 GPUs, folded", micro_batches),
                      fastest(layout_of(8, 6, 64), micro_batches, true, 3), reference);
  }
  reference = 0;
  for (const int stages : {8, 16, 32, 64}) {
    reference = print(fmt::format("{} stages × 512 micro-batches, 3,072 GPUs, folded", stages),
                      fastest(layout_of(8, 384 / stages, stages), 512, true, 3), reference);
  }
  reference = 0;
  for (const int data : {1, 2, 4, 8}) {
    reference = print(fmt::format("16 stages × 192 micro-batches, {} GPUs, every rank", 128 * data),
                      fastest(layout_of(8, data, 16), 192, false, 1), reference);
  }
  reference = 0;
  for (const int data : {1, 2, 4}) {
    reference = print(fmt::format("the same, {} GPUs, 8 of them to a NIC", 128 * data),
                      cost(layout_of(8, data, 16), 192, false, 1), reference);
  }
  fmt::print("most memory: {:.0f} MB\n", most_resident_mbytes());
}
