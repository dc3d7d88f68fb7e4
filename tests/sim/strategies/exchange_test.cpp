#include "sim/strategies/exchange.h"

#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

// One bucket of all 64 MiB gradients on machines of eight GPUs.
Step hierarchical(int gpus, bool by_levels = true) {
  Step step(gpus);
  step.set("hierarchical", by_levels ? 1 : 0);
  step.set("first_bucket_bytes", 1e12);
  return step;
}

constexpr double all = 4 * 2048.0 * 2048.0 * 4;

TEST_CASE("by levels: scatter and gather inside nodes, an eighth per rank between them") {
  Step step = hierarchical(24);
  const std::vector<Call> made = calls(step);
  REQUIRE(made.size() == 3);
  CHECK(made[0].kind == CollectiveKind::reduce_scatter);
  CHECK(made[0].communicator == "node");
  CHECK(made[0].bytes == all);
  CHECK(made[1].kind == CollectiveKind::all_reduce);
  CHECK(made[1].communicator == "across nodes");
  CHECK(made[1].bytes == all / 8);
  CHECK(made[2].kind == CollectiveKind::all_gather);
  CHECK(made[2].communicator == "node");
  CHECK(made[2].bytes == all);
  // A node's eight ranks send 2 · 2/3 · all/8 each out of it: 2 · 2/3 · all. A flat ring over 24 sends 2 · 23/24 · all.
  CHECK(8 * calibrate::bus_factor(CollectiveKind::all_reduce, 3) * made[1].bytes ==
        Approx(4.0 / 3 * all).epsilon(1e-12));
}

TEST_CASE("communicators by levels: ranks of a node, and of equal local index") {
  Step step = hierarchical(16);
  const Composed composed = step.composed();
  REQUIRE(composed.placement.communicators.size() == 3);
  const Communicator& node = composed.placement.communicators[1];
  const Communicator& across = composed.placement.communicators[2];
  REQUIRE(node.groups.size() == 2);
  CHECK(node.groups[1] == std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15});
  REQUIRE(across.groups.size() == 8);
  CHECK(across.groups[3] == std::vector<int>{3, 11});
}

TEST_CASE("a partly filled last node meets by the first ranks of the nodes") {
  Step step = hierarchical(20);
  const Composed composed = step.composed();
  const Communicator& across = composed.placement.communicators.at(2);
  CHECK(across.groups.front() == std::vector<int>{0, 8, 16});
  CHECK(across.groups.size() == 1 + 17);  // the others stay alone
  const std::vector<Call> made = calls(composed.programs.front());
  REQUIRE(made.size() == 3);
  for (const Call& call : made) CHECK(call.bytes == all);
  CHECK(made[0].kind == CollectiveKind::broadcast);
  CHECK(made[1].kind == CollectiveKind::all_reduce);
  CHECK(made[2].kind == CollectiveKind::broadcast);
}

TEST_CASE("one node is one level") {
  Step step = hierarchical(8);
  const std::vector<Call> made = calls(step);
  REQUIRE(made.size() == 1);
  CHECK(made[0].communicator == "data");
}

TEST_CASE("every level costs the host one call") {
  Step flat = hierarchical(16, false), levels = hierarchical(16);
  const Program one = flat.composed().programs.front(), three = levels.composed().programs.front();
  CHECK(count(one, StreamKind::host, "launch all-reduce") == 1);
  CHECK(count(three, StreamKind::host, "launch") == 3);
}

TEST_CASE("by levels, folded and unfolded runs agree") {
  const int gpus = GENERATE(16, 20, 24, 33);
  Step one = hierarchical(gpus), other = hierarchical(gpus);
  one.set("first_bucket_bytes", 1e6);
  other.set("first_bucket_bytes", 1e6);
  const double folded = one.replayed(true).step_seconds;
  CHECK(folded == Approx(other.replayed(false).step_seconds).epsilon(1e-9));
  CHECK(one.job.instances.size() < other.job.instances.size());
}

}  // namespace
}  // namespace foretrain::sim::strategies
