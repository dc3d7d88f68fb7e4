// Programs that cannot end are told apart and named.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/engine/test_jobs.h"

using namespace foretrain;
using namespace foretrain::sim;
using namespace foretrain::sim::engine;

namespace {

std::string message(const Job& job) {
  try {
    (void)replay(job, PlainPlanner());
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::failed);
    return error.what();
  }
  return "no error";
}

// Two ranks with different programs on the communicators of the first.
Job two_ranks(const Program& first, const Program& second) {
  Job job = ring_job(first, 2);
  job.programs.push_back(second);
  job.instances[1].program = 1;
  job.instances[1].group_of_communicator.clear();
  for (const std::string& name : second.communicators) {
    const auto found = std::find(first.communicators.begin(), first.communicators.end(), name);
    job.instances[1].group_of_communicator.push_back(static_cast<std::uint32_t>(found - first.communicators.begin()));
  }
  return job;
}

}  // namespace

TEST_CASE("a rank that ends without the collective is named") {
  TestProgram caller("caller"), quitter("quitter");
  caller.all_reduce("data", 1e6, {}, "bucket 1");
  caller.all_reduce("data", 1e6, {}, "bucket 2");
  quitter.all_reduce("data", 1e6, {}, "bucket 1");
  CHECK(message(two_ranks(caller.program, quitter.program)) ==
        "the step never ends: ranks wait for each other in collectives\n"
        "  \"bucket 2\" (call 2 on \"data\"): rank 0 (caller) waits for rank 1 (quitter), which ends without it");
}

TEST_CASE("collectives in crossed order are named") {
  TestProgram first("first"), second("second");
  first.all_reduce("a", 1e6, {}, "reduce a");
  first.all_reduce("b", 1e6, {}, "reduce b");
  second.all_reduce("b", 1e6, {}, "reduce b");
  second.all_reduce("a", 1e6, {}, "reduce a");
  CHECK(message(two_ranks(first.program, second.program)) ==
        "the step never ends: ranks wait for each other in collectives\n"
        "  \"reduce a\" (call 1 on \"a\"): rank 0 (first) waits for rank 1 (second), which waits in \"reduce b\"\n"
        "  \"reduce b\" (call 1 on \"b\"): rank 1 (second) waits for rank 0 (first), which waits in \"reduce a\"");
}

TEST_CASE("many waiting groups are cut short") {
  // 7 groups of two ranks; in each the second rank never calls.
  TestProgram caller("caller"), quitter("quitter");
  caller.all_reduce("data", 1e6, {}, "bucket");
  quitter.kernel(1);
  Job job;
  job.programs = {caller.program, quitter.program};
  for (std::uint32_t i = 0; i < 14; ++i) {
    job.instances.emplace_back();
    job.instances.back().rank = static_cast<int>(i);
    job.instances.back().program = i % 2;
    job.instances.back().group_of_communicator = {i / 2};
    if (i % 2 == 0) job.groups.push_back({"data", {2, 2, 1}, {i, i + 1}, {}});
  }
  const std::string text = message(job);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK_THAT(text, Catch::EndsWith("\n  and 3 more"));
}

TEST_CASE("a group of many says how many are missing") {
  TestProgram caller("caller"), quitter("quitter");
  caller.all_reduce("data", 1e6, {}, "bucket");
  Job job = ring_job(caller.program, 8);
  job.programs.push_back(quitter.program);
  for (std::size_t i = 3; i < 8; ++i) job.instances[i].program = 1;
  CHECK_THAT(message(job),
             Catch::Contains("rank 0 (caller) waits for rank 3 (quitter), which ends without it, and for 4 more"));
}

TEST_CASE("members that call different operations together are named") {
  TestProgram one("one"), other("other");
  one.all_reduce("data", 1e6, {}, "small");
  other.all_reduce("data", 2e6, {}, "large");
  CHECK_THAT(message(two_ranks(one.program, other.program)), Catch::Contains("rank 1 (other)") &&
                                                                 Catch::Contains("2000000 bytes (\"large\")") &&
                                                                 Catch::Contains("1000000 bytes"));
}

TEST_CASE("a stuck program leaves the engine usable") {
  TestProgram caller("caller"), quitter("quitter"), good("good");
  caller.all_reduce("data", 1e6);
  good.all_reduce("data", 0.04 * 50e9);
  const Timeline before = replay(ring_job(good.program, 4), PlainPlanner());
  for (int i = 0; i < 10; ++i) {
    CHECK_THROWS_AS(replay(two_ranks(caller.program, quitter.program), PlainPlanner()), Error);
    CHECK(replay(ring_job(good.program, 4), PlainPlanner()).hash() == before.hash());
  }
  CHECK(before.step_seconds == Approx(0.04).epsilon(1e-12));
}
