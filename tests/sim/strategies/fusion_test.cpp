#include "sim/strategies/fusion.h"

#include "tests/catch.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double mi = 1024 * 1024;

// A tensor of `mebi` MiB in fp32, handed over and ready at these milliseconds.
HandedOver tensor(double mebi, double at, double ready) {
  return {{mebi * mi / 4, 0, 1}, Seconds(at * 1e-3), Seconds(ready * 1e-3)};
}

FusionRules rules(double threshold_mebi, double cycle_ms, double negotiation_ms = 0) {
  return {mebibytes(threshold_mebi), 4, Seconds(cycle_ms * 1e-3), Seconds(negotiation_ms * 1e-3)};
}

TEST_CASE("all small tensors of one cycle are one reduction") {
  const std::vector<FusedCycle> cycles =
      fuse({tensor(1, 5.1, 5.1), tensor(2, 5.5, 5.6), tensor(3, 9.9, 9.9)}, rules(64, 5));
  REQUIRE(cycles.size() == 1);  // wakings at 0, 5 and 10 ms
  REQUIRE(cycles[0].groups.size() == 1);
  CHECK(cycles[0].groups[0].elements == 6 * mi / 4);
  CHECK(cycles[0].wait.value == Approx(0.1e-3).epsilon(1e-6));  // from 9.9 to 10 ms
}

TEST_CASE("the threshold is never exceeded but by a tensor of its own") {
  const std::vector<FusedCycle> cycles =
      fuse({tensor(30, 1, 1), tensor(30, 1, 1), tensor(30, 1, 1), tensor(100, 1, 1), tensor(1, 1, 1)}, rules(64, 5));
  REQUIRE(cycles.size() == 1);
  REQUIRE(cycles[0].groups.size() == 4);  // 30 + 30 | 30 | 100 | 1
  CHECK(cycles[0].groups[0].tensors.size() == 2);
  CHECK(cycles[0].groups[2].elements == 100 * mi / 4);
  CHECK(cycles[0].group_ends == std::vector<std::size_t>{2, 3, 4, 5});
}

TEST_CASE("no threshold, no fusion") {
  const std::vector<FusedCycle> cycles = fuse({tensor(1, 1, 1), tensor(1, 1, 1)}, rules(0, 5));
  CHECK(cycles[0].groups.size() == 2);
}

TEST_CASE("tensors further apart than a cycle are reduced apart") {
  const std::vector<FusedCycle> cycles = fuse({tensor(1, 1, 1), tensor(1, 7, 7), tensor(1, 13, 13)}, rules(64, 5));
  CHECK(cycles.size() == 3);  // at 5, 10 and 15 ms
}

TEST_CASE("while the thread waits for data, tensors gather") {
  // Handed over 1 ms apart, but the first data are there at 20 ms only: the next cycle takes all others.
  const std::vector<FusedCycle> cycles =
      fuse({tensor(1, 1, 20), tensor(1, 2, 21), tensor(1, 3, 22), tensor(1, 4, 23)}, rules(64, 1));
  REQUIRE(cycles.size() == 2);
  CHECK(cycles[0].last == 0);
  CHECK(cycles[1].last == 3);
  CHECK(cycles[1].wait.value == 0);  // it comes late
}

TEST_CASE("without a cycle a tensor is reduced when it comes") {
  const std::vector<FusedCycle> cycles = fuse({tensor(1, 1, 1), tensor(1, 2, 2)}, rules(64, 0));
  REQUIRE(cycles.size() == 2);
  CHECK(cycles[0].wait.value == 0);
}

}  // namespace
}  // namespace foretrain::sim::strategies
