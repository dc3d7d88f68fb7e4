#include "sim/plan_names.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "sim/strategies/schedule.h"
#include "tests/sim/strategies/turns.h"

namespace foretrain::sim::strategies {
namespace {

using Catch::Matchers::Contains;

const std::vector<std::int64_t> counts = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 40, 64};

// Every schedule that is possible with so many stages and micro-batches.
template <typename Check>
void for_all(int most_stages, Check check) {
  for (int p = 1; p <= most_stages; ++p) {
    for (const std::int64_t m : counts) {
      for (const char* name : {"none", "gpipe", "1f1b", "zero-bubble", "zb-h1", "zb-h2"}) {
        INFO(name << ", " << p << " stages, " << m << " micro-batches");
        check(name, PipelineShape{p, 1, m});
      }
      INFO(p << " stages, " << m << " micro-batches");
      check("zb-v", PipelineShape{p, 2, m});
      for (const int v : {2, 3, 4}) {
        INFO(v << " chunks");
        if (m % p == 0) check("interleaved", PipelineShape{p, v, m});
      }
    }
  }
}

// The most passes forward whose activations a stage holds at once, until backward (or its weight gradient) is done.
int most_held(const std::vector<Turn>& turns) {
  int held = 0, most = 0;
  for (const Turn& turn : turns) {
    if (turn.pass == Pass::forward) most = std::max(most, ++held);
    if (turn.pass == Pass::backward || turn.pass == Pass::weight_gradient) --held;
  }
  return most;
}

TEST_CASE("on every stage every micro-batch goes forward, then back, each once") {
  for_all(8, [](const std::string& name, const PipelineShape& shape) {
    const bool apart = name.rfind("z", 0) == 0;
    for (int s = 0; s < shape.stages; ++s) {
      const std::vector<Turn> turns = schedule_of(name, shape, s);
      const auto passes = static_cast<std::size_t>(shape.micro_batches * shape.chunks);
      REQUIRE(turns.size() == passes * (apart ? 3 : 2));
      std::set<std::pair<int, std::int64_t>> forward, back, done;
      bool in_order = true;
      for (const Turn& turn : turns) {
        const std::pair which(turn.chunk, turn.micro_batch);
        in_order = in_order && turn.chunk >= 0 && turn.chunk < shape.chunks && turn.micro_batch < shape.micro_batches;
        switch (turn.pass) {
          case Pass::forward: in_order = in_order && forward.insert(which).second; break;
          case Pass::backward:
            in_order = in_order && !apart && forward.count(which) && done.insert(which).second;
            break;
          case Pass::input_gradient: in_order = in_order && forward.count(which) && back.insert(which).second; break;
          case Pass::weight_gradient: in_order = in_order && back.count(which) && done.insert(which).second; break;
        }
      }
      CHECK(in_order);
      CHECK(done.size() == passes);
    }
  });
}

TEST_CASE("no stage waits for ever") {
  for_all(8, [](const std::string& name, const PipelineShape& shape) { CHECK(course_of(name, shape, {}).complete); });
}

TEST_CASE("the bubble of gpipe and 1f1b is (p−1)·(F+B), whatever the two take") {
  for (int p = 1; p <= 12; ++p) {
    for (const std::int64_t m : counts) {
      for (const PassTimes& times : {PassTimes{1, 1, 1}, PassTimes{1, 0.5, 0.5}, PassTimes{3, 1, 0.25}}) {
        const double both = times.forward + times.of(Pass::backward);
        for (const char* name : {"gpipe", "1f1b"}) {
          INFO(name << ", " << p << " stages, " << m << " micro-batches");
          const double makespan = course_of(name, {p, 1, m}, times).makespan;
          const auto micro_batches = static_cast<double>(m);
          CHECK(makespan == Approx((micro_batches + p - 1) * both).epsilon(1e-12));
          CHECK(1 - micro_batches * both / makespan == Approx((p - 1) / (micro_batches + p - 1)).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("mere placement of layers runs one stage at a time") {
  for (int p = 1; p <= 8; ++p) {
    for (const std::int64_t m : counts) {  // p·m·(F+B)
      const double work = static_cast<double>(m) * 2.5;
      CHECK(course_of("none", {p, 1, m}, {1, 1, 0.5}).makespan == Approx(p * work).epsilon(1e-12));
    }
  }
}

TEST_CASE("v interleaved chunks divide the bubble by v") {
  for (int p = 2; p <= 8; ++p) {
    for (int v = 1; v <= 5; ++v) {
      for (int groups = 1; groups <= 5; ++groups) {
        INFO(p << " stages, " << v << " chunks, " << groups << " groups");
        const std::int64_t m = groups * p;
        const PassTimes times{2.0 / v, 3.0 / v, 1.0 / v};  // a stage: F 2, B 4
        const double makespan = course_of("interleaved", {p, v, m}, times).makespan;
        CHECK(makespan - static_cast<double>(m) * 6 == Approx((p - 1) * 6.0 / v).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("1f1b over several chunks is the interleaved schedule, zero-bubble stands for zb-h1") {
  const PipelineShape chunks{4, 3, 8}, plain{4, 1, 6};
  for (int s = 0; s < 4; ++s) {
    CHECK(schedule_of("1f1b", chunks, s) == schedule_of("interleaved", chunks, s));
    CHECK(schedule_of("zero-bubble", plain, s) == schedule_of("zb-h1", plain, s));
  }
}

TEST_CASE("zb-h1 leaves (p−1)·(F+B−W)") {
  for (int p = 1; p <= 12; ++p) {
    for (const std::int64_t m : counts) {
      if (m < p) continue;
      INFO(p << " stages, " << m << " micro-batches");
      for (const PassTimes& times : {PassTimes{1, 1, 1}, PassTimes{1, 1.2, 0.7}, PassTimes{1, 1.1, 0.9}}) {
        const double work = static_cast<double>(m) * (times.forward + times.of(Pass::backward));
        const double bubble = (p - 1) * (times.forward + times.input_gradient - times.weight_gradient);
        CHECK(course_of("zb-h1", {p, 1, m}, times).makespan - work == Approx(bubble).margin(1e-9));
      }
    }
  }
}

TEST_CASE("zb-h2 and zb-v keep every stage busy from its first turn to its last when F = B = W") {
  for (int p = 1; p <= 12; ++p) {
    for (const std::int64_t m : counts) {
      if (m < 2 * p - 1) continue;
      INFO(p << " stages, " << m << " micro-batches");
      const double work = 3 * static_cast<double>(m);
      const Course h2 = course_of("zb-h2", {p, 1, m}, {1, 1, 1});
      const Course v = course_of("zb-v", {p, 2, m}, {0.5, 0.5, 0.5});
      CHECK(h2.longest_span == Approx(work).epsilon(1e-12));
      CHECK(v.longest_span == Approx(work).epsilon(1e-12));
      // Of a single step the last stage starts p−1 passes late all the same.
      CHECK(h2.makespan == Approx(work + p - 1).epsilon(1e-12));
      CHECK(v.makespan == Approx(work + (p - 1) / 2.0).epsilon(1e-12));
    }
  }
}

TEST_CASE("how many activations a stage holds") {
  for (int p = 1; p <= 8; ++p) {
    for (const std::int64_t m : counts) {
      const auto all = static_cast<int>(m);
      for (int s = 0; s < p; ++s) {
        INFO("stage " << s << " of " << p << ", " << m << " micro-batches");
        const auto held = [&](const char* name, int v) { return most_held(schedule_of(name, {p, v, m}, s)); };
        CHECK(held("none", 1) == 1);
        CHECK(held("gpipe", 1) == all);
        CHECK(held("1f1b", 1) == std::min(all, p - s));
        CHECK(held("zb-h1", 1) <= p);
        CHECK(held("zb-h2", 1) <= 2 * p - 1);
        if (m >= 2 * p - 1) CHECK(held("zb-h1", 1) == p);
        if (m >= 3 * p) CHECK(held("zb-h2", 1) == 2 * p - 1);
        CHECK(held("zb-v", 2) <= 2 * p);  // of half a stage each: as the first stage of 1f1b
        if (m % p != 0) continue;
        // Megatron-LM's warm-up and the pass that follows it.
        CHECK(held("interleaved", 3) == std::min(2 * (p - 1 - s) + 2 * p + 1, 3 * all));
      }
    }
  }
}

TEST_CASE("chunks before and after one another") {
  const PipelineShape shape{4, 2, 8};
  const auto same = [](Neighbour n, int stage, int chunk) { return n.stage == stage && n.chunk == chunk; };
  CHECK(same(chunk_before("interleaved", shape, 0, 0), -1, -1));
  CHECK(same(chunk_after("interleaved", shape, 1, 0), 2, 0));
  CHECK(same(chunk_after("interleaved", shape, 3, 0), 0, 1));  // around to the first stage
  CHECK(same(chunk_before("interleaved", shape, 0, 1), 3, 0));
  CHECK(same(chunk_after("interleaved", shape, 3, 1), -1, -1));
  CHECK(same(chunk_after("zb-v", shape, 3, 0), 3, 1));  // turns around on the last stage
  CHECK(same(chunk_before("zb-v", shape, 3, 1), 3, 0));
  CHECK(same(chunk_after("zb-v", shape, 3, 1), 2, 1));
  CHECK(same(chunk_before("zb-v", shape, 0, 1), 1, 1));
  CHECK(same(chunk_after("zb-v", shape, 0, 1), -1, -1));
  CHECK(same(chunk_before("zb-v", shape, 0, 0), -1, -1));
}

Plan plan(const std::string& schedule, std::int64_t interleave) {
  Plan plan;
  plan.pipeline = 4;
  plan.schedule = schedule;
  plan.interleave = interleave;
  return plan;
}

TEST_CASE("schedules that do not go with their plan") {
  for (const std::string& name : schedule_names()) {
    INFO(name);
    const bool needs_two = name == "interleaved" || name == "zb-v";
    CHECK_NOTHROW(require_schedule(plan(name, needs_two ? 2 : 1), 8));
    if (name != "1f1b") CHECK_THROWS_AS(require_schedule(plan(name, needs_two ? 1 : 2), 8), Error);
  }
  CHECK_NOTHROW(require_schedule(plan("1f1b", 2), 8));
  CHECK_NOTHROW(require_schedule(plan("1f1b", 1), 7));
  CHECK_NOTHROW(require_schedule(plan("zb-v", 2), 7));
  CHECK_THROWS_AS(require_schedule(plan("zb-v", 3), 8), Error);
  const auto complaint = [](const Plan& bad, std::int64_t micro_batches) {
    try {
      require_schedule(bad, micro_batches);
    } catch (const Error& error) {
      return std::string(error.where()) + ": " + error.what();
    }
    return std::string();
  };
  CHECK_THAT(complaint(plan("interleaved", 2), 10), Contains("/plan/interleave") && Contains("10 micro-batches on 4"));
  CHECK_THAT(complaint(plan("1f2b", 1), 8), Contains("/plan/schedule") && Contains("1f2b"));
}

}  // namespace
}  // namespace foretrain::sim::strategies
