// Exchanges with parameter servers in simulated time: alone, against each other, folded, and without waiting.
#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "tests/sim/engine/fold_check.h"
#include "tests/sim/engine/test_jobs.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;
using calibrate::CollectiveKind;
using calibrate::IntraNode;

namespace {

enum class Waiting { all, nobody };

Communicator star(const std::string& name, int gpus, std::vector<int> server_nodes, Waiting waiting = Waiting::all,
                  Client client = Client::rank, int gpus_per_node = 1) {
  Communicator communicator{name, {}, Pattern::servers};
  communicator.server_nodes = std::move(server_nodes);
  communicator.client = client;
  const int size = waiting == Waiting::all ? gpus : gpus_per_node;
  for (int first = 0; first < gpus; first += size) {
    communicator.groups.push_back(ranks(first, std::min(size, gpus - first)));
  }
  return communicator;
}

// A program that exchanges with several stars, each on a stream of its own.
struct Worker : TestProgram {
  ActivityIndex exchange(CollectiveKind kind, const std::string& name, double bytes,
                         const std::vector<ActivityIndex>& waits_for = {}) {
    const std::string stream = name + (kind == CollectiveKind::update ? " updates" : "");
    auto known = std::find_if(program.streams.begin(), program.streams.end(),
                              [&](const Stream& each) { return each.name == stream; });
    const auto index = known == program.streams.end() ? program.add_stream(stream, StreamKind::communication)
                                                      : static_cast<std::uint16_t>(known - program.streams.begin());
    return program.add_collective(index, program.add_communicator(name), kind, Bytes(bytes),
                                  program.add_label(calibrate::to_string(kind) + (" " + name)), waits_for);
  }
};

// Pulls of two servers, forward; backward with pushes and updates as gradients become ready.
Program step(const std::string& one, const std::string& other) {
  Worker worker;
  std::vector<ActivityIndex> pulled = {worker.exchange(CollectiveKind::pull, one, 400e6),
                                       worker.exchange(CollectiveKind::pull, other, 90e6)};
  worker.kernel(5e-3, pulled);
  for (int layer = 0; layer < 6; ++layer) {
    const ActivityIndex done = worker.kernel(3e-3 * (1 + layer));
    const std::string& server = layer % 3 == 0 ? one : other;
    const ActivityIndex pushed = worker.exchange(CollectiveKind::push, server, 50e6 * (1 + layer), {done});
    worker.exchange(CollectiveKind::update, server, 200e6, {pushed});
  }
  return worker.program;
}

Placement placement(int gpus, std::vector<Communicator> communicators) {
  Placement result;
  result.class_of_rank.assign(static_cast<std::size_t>(gpus), 0);
  result.communicators = std::move(communicators);
  return result;
}

Timeline replayed(TestNetwork& network, const Program& program, const Placement& where) {
  const Topology topology = network.topology();
  return replay(expand({program}, where, topology), network.costs(topology));
}

}  // namespace

// The research model's C_net = max(2·w·S·(N-1)/N, 2·(N-1)·w·V) / (share of the NIC): variables S spread and one
// variable V whole, pushed and pulled, on nodes whose memories and ports are wide.
TEST_CASE("a push and a pull through one NIC per node take what C_net says") {
  constexpr double bytes = 1e9, hot = 0.4e9, nic = 20e9, hops = 2 * 2 * 10e-6;
  for (const int nodes : {2, 4, 8}) {
    for (const int local : {1, 4}) {
      for (const bool node_first : {false, true}) {
        CAPTURE(nodes, local, node_first);
        TestNetwork network(nodes * local, local, IntraNode::nvswitch, 1);
        network.add_servers();
        network.servers->host_rate = gbytes_per_s(3000);
        network.servers->pcie_rate = gbytes_per_s(3000);
        const Client client = node_first ? Client::node : Client::rank;
        const double n = nodes, w = node_first ? 1 : local;
        Worker worker;
        worker.exchange(CollectiveKind::push, "servers", bytes);
        worker.exchange(CollectiveKind::pull, "servers", bytes);
        const Timeline spread =
            replayed(network, worker.program,
                     placement(nodes * local, {star("servers", nodes * local, ranks(0, nodes), Waiting::all, client)}));
        CHECK(spread.step_seconds == Approx(2 * w * bytes * (n - 1) / n / nic + hops).epsilon(1e-9));
        Worker whole;
        whole.exchange(CollectiveKind::push, "servers", hot);
        whole.exchange(CollectiveKind::pull, "servers", hot);
        const Timeline one =
            replayed(network, whole.program,
                     placement(nodes * local, {star("servers", nodes * local, {0}, Waiting::all, client)}));
        CHECK(one.step_seconds == Approx(2 * (n - 1) * w * hot / nic + hops).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("pushes to two servers share the NICs of the workers and nothing else") {
  // 4 workers on nodes of their own, two servers apart. 1 GB to each: 2 GB leave a worker at 20 GB/s, 4 GB enter a
  // server at 20 GB/s: 0.2 s. To one of them alone: 0.2 s too.
  TestNetwork network(4, 1, IntraNode::none, 1);
  network.add_servers(2);
  network.servers->host_rate = gbytes_per_s(3000);
  network.servers->pcie_rate = gbytes_per_s(3000);
  Worker worker;
  worker.exchange(CollectiveKind::push, "a", 1e9);
  worker.exchange(CollectiveKind::push, "b", 1e9);
  const Timeline both = replayed(network, worker.program, placement(4, {star("a", 4, {4}), star("b", 4, {5})}));
  CHECK(both.step_seconds == Approx(0.2 + 20e-6).epsilon(1e-9));
}

TEST_CASE("updates wait in the memory that pushes fill") {
  // One worker pushes 3 GB into 30 GB/s of memory while 3 GB are updated there: 6 GB, 0.2 s (port 3000 GB/s).
  TestNetwork network(1, 1, IntraNode::none, 1);
  network.add_servers();
  network.servers->pcie_rate = gbytes_per_s(3000);
  Worker worker;
  worker.exchange(CollectiveKind::push, "server", 3e9);
  worker.exchange(CollectiveKind::update, "server", 3e9);
  const Timeline timeline = replayed(network, worker.program, placement(1, {star("server", 1, {0})}));
  CHECK(timeline.step_seconds == Approx(0.2 + 2 * 5e-6).epsilon(1e-4));
}

TEST_CASE("a group of one rank is not free when it is with servers") {
  TestNetwork network(1, 1, IntraNode::none, 1);
  network.add_servers();
  Worker worker;
  worker.exchange(CollectiveKind::push, "server", 1e9);
  // 1 GB over a port of 10 GB/s after two PCIe steps of 5 µs.
  const Timeline timeline = replayed(network, worker.program, placement(1, {star("server", 1, {0})}));
  CHECK(timeline.step_seconds == Approx(0.1 + 10e-6).epsilon(1e-9));
  CHECK(network.parameters.at(timeline.collectives.at(0).bandwidth_parameter).name == "PCIe to host");
}

TEST_CASE("the link that many clients fill is the one that a push rests on") {
  // 8 GPUs over ports of 10 GB/s into a memory of 30 GB/s.
  TestNetwork network(8, 8, IntraNode::nvswitch, 1);
  network.add_servers();
  Worker worker;
  worker.exchange(CollectiveKind::push, "server", 1e9);
  const Placement where = placement(8, {star("server", 8, {0})});
  const Topology topology = network.topology();
  for (const Job& job : {expand({worker.program}, where, topology), fold({worker.program}, where, topology)}) {
    const Timeline timeline = replay(job, network.costs(topology));
    CHECK(network.parameters.at(timeline.collectives.at(0).bandwidth_parameter).name == "host memory");
  }
}

TEST_CASE("copies to servers do not slow kernels down, rings do") {
  TestNetwork network(8, 8, IntraNode::nvswitch, 1);
  network.add_servers();
  Worker worker;
  worker.kernel(0.1);
  worker.exchange(CollectiveKind::push, "server", 1e8);
  worker.program.compute_rate_while_communicating = 0.5;
  const Timeline timeline = replayed(network, worker.program, placement(8, {star("server", 8, {0})}));
  CHECK(timeline.step_seconds == Approx(0.1).epsilon(1e-12));
}

TEST_CASE("folding is exact: servers on the workers' nodes") {
  for (const Waiting waiting : {Waiting::all, Waiting::nobody}) {
    for (const int gpus : {2, 4, 8, 11, 16, 24}) {
      for (const int nics : {1, 2}) {
        TestNetwork network(gpus, 4, IntraNode::nvswitch, nics);
        network.add_servers();
        CAPTURE(static_cast<int>(waiting), gpus, nics);
        const int nodes = network.cluster.nodes;
        // A variable whole on the last node, the others spread.
        const std::size_t representatives = check_fold(
            {step("hot", "spread")},
            placement(gpus, {star("hot", gpus, {nodes - 1}, waiting), star("spread", gpus, ranks(0, nodes), waiting)}),
            network);
        if (waiting == Waiting::all) CHECK(representatives == 1);  // everybody waits for everybody
        // Alone, workers differ by being on the server's node, in a partly used one, and by who shares their NIC.
        CHECK(representatives <= 4);
        if (waiting == Waiting::nobody && nodes > 1) CHECK(representatives >= 2);
      }
    }
  }
}

TEST_CASE("folding is exact: servers apart, PCIe trees and pairs") {
  for (const Waiting waiting : {Waiting::all, Waiting::nobody}) {
    for (const IntraNode fabric : {IntraNode::pcie, IntraNode::nvlink_pairs}) {
      for (const int gpus : {4, 8, 10, 16}) {
        TestNetwork network(gpus, 4, fabric, 2);
        network.add_servers(3);
        CAPTURE(static_cast<int>(waiting), static_cast<int>(fabric), gpus);
        const int nodes = network.cluster.nodes;
        const std::size_t representatives = check_fold(
            {step("hot", "spread")},
            placement(gpus,
                      {star("hot", gpus, {nodes}, waiting), star("spread", gpus, {nodes + 1, nodes + 2}, waiting)}),
            network);
        CHECK(representatives <= 3);
        if (gpus % 4 == 0) CHECK(representatives == 1);
      }
    }
  }
}

TEST_CASE("folding is exact: a node sums first, by its GPUs or its host, and leaves are oversubscribed") {
  for (const Waiting waiting : {Waiting::all, Waiting::nobody}) {
    for (const Client client : {Client::node, Client::host}) {
      for (const int gpus : {8, 16, 28, 32}) {
        TestNetwork network(gpus, 8, IntraNode::nvswitch, 4);
        network.add_servers();
        network.cluster.nodes_per_leaf = 2;
        network.cluster.oversubscription = 4;
        CAPTURE(static_cast<int>(waiting), static_cast<int>(client), gpus);
        const int nodes = network.cluster.nodes;
        Worker worker;
        ActivityIndex done = worker.kernel(5e-3, {worker.exchange(CollectiveKind::pull, "spread", 300e6)});
        if (client == Client::host) done = worker.exchange(CollectiveKind::push, "own host", 300e6, {done});
        done = worker.exchange(CollectiveKind::push, "spread", 300e6, {done});
        worker.exchange(CollectiveKind::update, "spread", 900e6, {done});
        worker.exchange(CollectiveKind::push, "hot", 100e6);
        const std::size_t representatives =
            check_fold({worker.program},
                       placement(gpus, {star("spread", gpus, ranks(0, nodes), waiting, client, 8),
                                        star("hot", gpus, {0}, waiting, client, 8),
                                        star("own host", gpus, {}, Waiting::nobody, Client::rank, 8)}),
                       network);
        CHECK(representatives < static_cast<std::size_t>(gpus));
      }
    }
  }
}

TEST_CASE("many servers with variables of their own fold to one worker while all wait for all") {
  TestNetwork network(32, 4, IntraNode::nvswitch, 1);
  network.add_servers();
  Worker worker;
  std::vector<Communicator> stars;
  for (int server = 0; server < 8; ++server) {
    const std::string name = "server " + std::to_string(server);
    worker.exchange(CollectiveKind::update, name, 50e6,
                    {worker.exchange(CollectiveKind::push, name, 20e6 * (1 + server), {worker.kernel(1e-3)})});
    stars.push_back(star(name, 32, {server}));
  }
  CHECK(check_fold({worker.program}, placement(32, stars), network) == 1);
}

TEST_CASE("a straggler: synchronous workers wait for it, asynchronous ones do not") {
  TestNetwork network(8, 4, IntraNode::nvswitch, 1);
  network.add_servers();
  const Program program = step("hot", "spread");
  const auto finish_of = [&](Waiting waiting, std::size_t rank, double slowdown) {
    Placement where = placement(8, {star("hot", 8, {0}, waiting), star("spread", 8, ranks(0, 2), waiting)});
    where.stretch_of_rank.assign(8, 1.0);
    where.stretch_of_rank.back() = slowdown;
    check_fold({program}, where, network);
    const Timeline timeline = replayed(network, program, where);
    double finish = 0;
    for (std::size_t a = 0; a < program.activities.size(); ++a) {
      finish = std::max(finish, span(timeline, rank, static_cast<ActivityIndex>(a)).finish);
    }
    return finish;
  };
  // Kernels of 68 ms, 29 times as much more: 1.97 s, of which the links hide a part.
  CHECK(finish_of(Waiting::all, 0, 30) > finish_of(Waiting::all, 0, 1) + 1);
  CHECK(finish_of(Waiting::nobody, 7, 30) > finish_of(Waiting::nobody, 0, 30) + 1);
  // Without its pushes in their way the others are even faster.
  CHECK(finish_of(Waiting::nobody, 0, 30) <= finish_of(Waiting::nobody, 0, 1) * (1 + 1e-9));
}

TEST_CASE("asynchronous workers move the same bytes through the same links") {
  // All start together and are alike: every link is as full as with one group, and the step as long.
  TestNetwork network(8, 2, IntraNode::nvswitch, 1);
  network.add_servers(2);
  Worker worker;
  worker.exchange(CollectiveKind::push, "servers", 1e9, {worker.kernel(1e-2)});
  const Timeline together = replayed(network, worker.program, placement(8, {star("servers", 8, {4, 5}, Waiting::all)}));
  const Timeline alone = replayed(network, worker.program, placement(8, {star("servers", 8, {4, 5}, Waiting::nobody)}));
  CHECK(alone.step_seconds == Approx(together.step_seconds).epsilon(1e-9));
  CHECK(alone.collectives.size() == 8);
  CHECK(together.collectives.size() == 1);
}
