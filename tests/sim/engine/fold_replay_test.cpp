// Folded and unfolded replays agree: every representative does what its rank does, at the same time.
#include <random>
#include <string>

#include "tests/catch.h"
#include "tests/sim/engine/fold_check.h"
#include "tests/sim/engine/test_jobs.h"
#include "tests/sim/test_network.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;
using calibrate::IntraNode;

namespace {

// Ten layers backwards, a bucket after every second one, an optimizer step after all of them.
Program ddp_step(double layer_seconds, double bucket_bytes) {
  TestProgram rank;
  std::vector<ActivityIndex> buckets;
  for (int layer = 0; layer < 10; ++layer) {
    const ActivityIndex kernel = rank.kernel(layer_seconds * (1 + 0.1 * layer), {rank.launch(layer_seconds / 3)});
    if (layer % 2 == 1) buckets.push_back(rank.all_reduce("data", bucket_bytes * layer, {kernel}));
  }
  rank.kernel(layer_seconds, buckets, Category::optimizer);
  rank.program.compute_rate_while_communicating = 0.9;
  return rank.program;
}

Placement data_parallel(int gpus) {
  Placement placement;
  placement.class_of_rank.assign(static_cast<std::size_t>(gpus), 0);
  placement.communicators = {{"data", {ranks(0, gpus)}}};
  return placement;
}

}  // namespace

TEST_CASE("data parallelism on 2 to 64 GPUs with 1 to 8 NICs per node") {
  for (const int gpus : {2, 4, 8, 16, 32, 64}) {
    for (const int nics : {1, 2, 4, 8}) {
      TestNetwork network(gpus, 8, IntraNode::nvswitch, nics);
      CAPTURE(gpus, nics);
      CHECK(check_fold({ddp_step(1e-3, 20e6)}, data_parallel(gpus), network) == 1);
    }
  }
}

TEST_CASE("data parallelism over NVLink pairs and PCIe trees") {
  for (const IntraNode kind : {IntraNode::nvlink_pairs, IntraNode::pcie}) {
    for (const int gpus : {2, 4, 6, 8, 16, 32}) {
      for (const int nics : {1, 2}) {
        TestNetwork network(gpus, 4, kind, nics);
        CAPTURE(static_cast<int>(kind), gpus, nics);
        CHECK(check_fold({ddp_step(1e-3, 20e6)}, data_parallel(gpus), network) == 1);
      }
    }
  }
}

TEST_CASE("leaf switches, oversubscribed up to four times") {
  for (const double oversubscription : {1.0, 1.5, 2.0, 4.0}) {
    for (const int nodes_per_leaf : {1, 2, 3, 4}) {
      TestNetwork network(64, 4, IntraNode::nvswitch, 2);
      network.cluster.nodes_per_leaf = nodes_per_leaf;
      network.cluster.oversubscription = oversubscription;
      CAPTURE(oversubscription, nodes_per_leaf);
      CHECK(check_fold({ddp_step(1e-3, 20e6)}, data_parallel(64), network) == 1);
    }
  }
}

TEST_CASE("a partly used last node") {
  for (const int gpus : {9, 12, 15, 20, 33, 63}) {
    for (const int nodes_per_leaf : {0, 2}) {
      TestNetwork network(gpus, 8, IntraNode::nvswitch, 4);
      network.cluster.nodes_per_leaf = nodes_per_leaf;
      network.cluster.oversubscription = 2;
      CAPTURE(gpus, nodes_per_leaf);
      CHECK(check_fold({ddp_step(1e-3, 20e6)}, data_parallel(gpus), network) == 1);
    }
  }
}

TEST_CASE("a straggler") {
  for (const int gpus : {2, 8, 32, 64}) {
    TestNetwork network(gpus, 8, IntraNode::nvswitch, 4);
    Placement placement = data_parallel(gpus);
    placement.stretch_of_rank.assign(static_cast<std::size_t>(gpus), 1.0);
    placement.stretch_of_rank.back() = 1.3;
    CHECK(check_fold({ddp_step(1e-3, 20e6)}, placement, network) == 2);
  }
}

namespace {

// Ranks in tensor groups of `tensor` consecutive ranks, data groups across them; tensor collectives in the
// compute stream's way, data buckets beside it.
Placement tensor_and_data(int gpus, int tensor) {
  Placement placement;
  placement.class_of_rank.assign(static_cast<std::size_t>(gpus), 0);
  placement.communicators = {{"tensor", {}}, {"data", {}}};
  for (int first = 0; first < gpus; first += tensor) placement.communicators[0].groups.push_back(ranks(first, tensor));
  for (int i = 0; i < tensor; ++i) placement.communicators[1].groups.push_back(ranks(i, gpus / tensor, tensor));
  return placement;
}

Program tensor_step() {
  TestProgram rank;
  const std::uint16_t tensor_stream = rank.program.add_stream("tensor communication", StreamKind::communication);
  const std::uint16_t tensor = rank.program.add_communicator("tensor");
  const std::uint32_t label = rank.program.add_label("all-reduce of activations");
  ActivityIndex last = rank.launch(1e-4);
  for (int layer = 0; layer < 6; ++layer) {
    const ActivityIndex kernel = rank.kernel(2e-3, {last});
    last = rank.program.add_collective(tensor_stream, tensor, calibrate::CollectiveKind::all_reduce, Bytes(30e6), label,
                                       {kernel});
    rank.all_reduce("data", 60e6, {kernel});
  }
  rank.program.compute_rate_while_communicating = 0.85;
  return rank.program;
}

}  // namespace

TEST_CASE("tensor groups inside nodes and data groups across, sharing NICs") {
  for (const int gpus : {8, 16, 32, 64}) {
    for (const int tensor : {2, 4, 8}) {
      for (const int nics : {1, 4, 8}) {
        TestNetwork network(gpus, 8, IntraNode::nvswitch, nics);
        network.cluster.nodes_per_leaf = 2;
        network.cluster.oversubscription = 3;
        CAPTURE(gpus, tensor, nics);
        CHECK(check_fold({tensor_step()}, tensor_and_data(gpus, tensor), network) <= static_cast<std::size_t>(gpus));
      }
    }
  }
}

TEST_CASE("tensor groups wider than a node load the same NICs as data groups") {
  TestNetwork network(32, 4, IntraNode::nvswitch, 2);
  CHECK(check_fold({tensor_step()}, tensor_and_data(32, 8), network) < 32);
}

TEST_CASE("a straggler in a tensor group slows its group and no other until they meet") {
  TestNetwork network(32, 8, IntraNode::nvswitch, 4);
  Placement placement = tensor_and_data(32, 4);
  placement.stretch_of_rank.assign(32, 1.0);
  placement.stretch_of_rank[5] = 1.4;
  const std::size_t representatives = check_fold({tensor_step()}, placement, network);
  CHECK(representatives >= 3);  // the straggler, its tensor group, the rest
  CHECK(representatives < 32);
}

TEST_CASE("two stages that pass activations on") {
  // Stage 0 on the first half of the ranks, stage 1 on the second; replicas reduce gradients within each stage.
  TestProgram first("stage 0"), second("stage 1");
  for (int micro_batch = 0; micro_batch < 4; ++micro_batch) {
    first.program.add_collective(first.communication, first.program.add_communicator("next"),
                                 calibrate::CollectiveKind::send_receive, Bytes(50e6),
                                 first.program.add_label("activations"), {first.kernel(3e-3)});
    second.kernel(4e-3, {second.program.add_collective(second.communication, second.program.add_communicator("next"),
                                                       calibrate::CollectiveKind::send_receive, Bytes(50e6),
                                                       second.program.add_label("activations"))});
  }
  first.all_reduce("data", 200e6);
  second.all_reduce("data", 300e6, {second.kernel(1e-3)});
  for (const int gpus : {4, 8, 16, 32}) {
    TestNetwork network(gpus, 4, IntraNode::nvswitch, 2);
    Placement placement;
    placement.communicators = {{"next", {}}, {"data", {ranks(0, gpus / 2), ranks(gpus / 2, gpus / 2)}}};
    for (int rank = 0; rank < gpus; ++rank) placement.class_of_rank.push_back(rank < gpus / 2 ? 0 : 1);
    for (int rank = 0; rank < gpus / 2; ++rank) placement.communicators[0].groups.push_back(ranks(rank, 2, gpus / 2));
    CAPTURE(gpus);
    check_fold({first.program, second.program}, placement, network);
  }
}

namespace {

class RandomCase {
 public:
  explicit RandomCase(std::uint32_t seed) : random_(seed) {}

  int one_of(const std::vector<int>& choices) { return choices[random_() % choices.size()]; }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_()) / static_cast<double>(std::mt19937::max());
  }

  Program program() {
    TestProgram rank;
    const std::uint16_t second = rank.program.add_stream("second communication", StreamKind::communication);
    std::vector<ActivityIndex> done;
    for (int i = one_of({4, 8, 16}); i > 0; --i) {
      std::vector<ActivityIndex> waits;
      if (!done.empty() && one_of({0, 1}) == 1) waits.push_back(done[random_() % done.size()]);
      switch (one_of({0, 1, 2, 3})) {
        case 0: done.push_back(rank.launch(between(1e-5, 1e-3), waits)); break;
        case 1: done.push_back(rank.kernel(between(1e-4, 1e-2), waits)); break;
        case 2: done.push_back(rank.all_reduce("data", between(1e3, 1e8), waits)); break;
        default:
          done.push_back(rank.program.add_collective(second, rank.program.add_communicator("tensor"),
                                                     calibrate::CollectiveKind::all_gather, Bytes(between(1e3, 1e8)),
                                                     rank.program.add_label("all-gather"), waits));
      }
    }
    rank.kernel(between(1e-4, 1e-2), done);
    rank.program.compute_rate_while_communicating = between(0.5, 1.0);
    return rank.program;
  }

  Placement placement(int gpus) {
    Placement result = tensor_and_data(gpus, one_of({1, 2, 4}));
    if (one_of({0, 1}) == 1) {
      result.stretch_of_rank.assign(static_cast<std::size_t>(gpus), 1.0);
      for (int i = one_of({1, 2}); i > 0; --i) result.stretch_of_rank[random_() % result.stretch_of_rank.size()] = 1.25;
    }
    return result;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("random small programs on random clusters") {
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    RandomCase draw(seed);
    const int gpus = draw.one_of({4, 8, 12, 16, 20, 24, 32});
    TestNetwork network(gpus, draw.one_of({1, 2, 4, 8}), IntraNode::nvswitch, draw.one_of({1, 2}));
    network.cluster.nodes_per_leaf = draw.one_of({0, 1, 2, 3});
    network.cluster.oversubscription = draw.between(1, 4);
    CAPTURE(seed, gpus);
    check_fold({draw.program()}, draw.placement(gpus), network);
  }
}
