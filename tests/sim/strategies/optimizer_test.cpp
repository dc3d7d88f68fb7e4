#include "sim/strategies/optimizer.h"

#include "base/error.h"
#include "tests/catch.h"

namespace foretrain::sim::strategies {
namespace {

TEST_CASE("optimizer passes are those of the formulas") {
  CHECK(optimizer_passes("adam", true).words == 7);  // reads g, p, m, v; writes p, m, v
  CHECK(optimizer_passes("sgd", true).words == 5);   // reads g, p, m; writes p, m
  CHECK(optimizer_passes("adamw", false).words - optimizer_passes("adam", false).words == 2);  // p = p · (1 - decay)
  for (const char* name : {"sgd", "adam", "adamw", "lamb"}) {
    CHECK(optimizer_passes(name, true).words < optimizer_passes(name, false).words);
  }
  CHECK_THROWS_AS(optimizer_passes("adamm", true), Error);
}

TEST_CASE("foreach launches follow tensors or chunks, whichever are more") {
  CHECK(foreach_launches(1, 1000) == 1);
  CHECK(foreach_launches(161, 25.6e6) == 5);  // 161 / 36 = 4.5; 391 chunks / 320 = 1.2
  CHECK(foreach_launches(10, 340e6) == 17);   // 5188 chunks / 320 = 16.2
}

}  // namespace
}  // namespace foretrain::sim::strategies
