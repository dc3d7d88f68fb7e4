// Plans: what scenarios say about how ranks share the work, and what a changed plan does to the batch.
#include <nlohmann/json.hpp>

#include "scenarios/fields.h"
#include "scenarios/reader.h"
#include "sim/plan_names.h"
#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

TEST_CASE("Every field of a plan is read, set and written") {
  const std::string plan = R"(, "plan": {"tensor": 2, "sequence_parallel": true, "pipeline": 2, "sharding": "hsdp",
    "shard_group": 2, "recompute": "full", "recompute_every": 3, "schedule": "interleaved", "interleave": 2,
    "stage_split": "time", "stage_layers": [3, 4, 4, 5]})";
  const sim::Scenario s = read(small_scenario("", plan)).base;
  CHECK(s.plan.sequence_parallel);
  CHECK(s.plan.sharding == "hsdp");
  CHECK(s.plan.shard_group == 2);
  CHECK(s.plan.recompute_every == 3);
  CHECK(s.plan.stage_split == "time");
  CHECK(s.plan.stage_layers == std::vector<std::int64_t>{3, 4, 4, 5});
  CHECK(write_scenario(read(write_scenario(s).dump()).base) == write_scenario(s));
  const sim::Plan set = read(small_scenario(), {"plan.sequence_parallel=true", "plan.tensor=2",
                                                "plan.stage_layers=24, 24", "plan.pipeline=2"}).base.plan;
  CHECK(set.sequence_parallel);
  CHECK(set.stage_layers == std::vector<std::int64_t>{24, 24});
  CHECK(read(small_scenario(), {"plan.stage_layers=[7]"}).base.plan.stage_layers == std::vector<std::int64_t>{7});
  CHECK(read(small_scenario()).base.plan.sharding.empty());  // the stack's own way
}

TEST_CASE("Wrong values of a plan name their place") {
  const auto where = [](const std::string& set) { return read_error(small_scenario(), {set}).where(); };
  for (const std::string set : {"plan.sequence_parallel=1", "plan.sequence_parallel=yes", "plan.stage_layers=two",
                                "plan.stage_layers=[]", "plan.stage_layers=1.5,2", "plan.stage_layers=-1",
                                "plan.schedule=zigzag", "plan.sharding=zero4"}) {
    CHECK_THAT(where(set), Contains("--set " + set));
  }
  CHECK_THAT(read_error(small_scenario("", R"(, "plan": {"stage_layers": [1, "2"]})")).where(),
             Contains("/plan/stage_layers/1"));
  CHECK_THAT(read_error(small_scenario("", R"(, "plan": {"tp": 2})")).hint(), Contains("\"tensor\""));
}

TEST_CASE("A list of layers is one value, a list of lists is several options") {
  const auto options = [](const std::string& value) {
    return read(small_scenario("", R"(, "plan": {"pipeline": 2}, "options": [{"plan.stage_layers": )" + value + "}]")).options;
  };
  CHECK(options("[7, 9]").size() == 1);
  CHECK_THAT(options("[7, 9]").at(0).name, Contains("stages of 7+9 layers"));
  CHECK(options("[[7, 9], [8, 8]]").size() == 2);
}

TEST_CASE("The schedules that scenarios name are those there are") {
  CHECK(find_field("plan.schedule")->choices == sim::schedule_names());
}

TEST_CASE("More GPUs mean more replicas, another plan on the same GPUs keeps what the file states") {
  const std::string plan = R"(, "plan": {"tensor": 2, "pipeline": 2})";
  // 8 / 4 are two replicas; 16 / 4 are four
  const sim::Scenario grown = read(small_scenario(R"(, "global_batch": 512)", plan), {"cluster.gpus=16"}).base;
  CHECK(grown.plan.tensor == 2);
  CHECK(grown.training.global_batch == 1024);
  const sim::Scenario kept =
      read(small_scenario(R"(, "global_batch": 512, "scaling": "strong")", plan), {"cluster.gpus=16"}).base;
  CHECK(kept.training.global_batch == 512);
  CHECK(kept.training.micro_batch == 64);
  // Under strong scaling a batch that follows from the file (64 · 8 ranks) stays when the ranks become four.
  CHECK(read(small_scenario(R"(, "scaling": "strong")"), {"plan.tensor=2"}).base.training.global_batch == 512);
  CHECK(read(small_scenario(), {"plan.tensor=2"}).base.training.global_batch == 0);
  CHECK_THAT(read_error(small_scenario(), {"plan.tensor=3"}).where(), Contains("--set plan.tensor=3"));
  CHECK_THAT(read_error(small_scenario(R"(, "global_batch": 64)", plan), {"plan.tensor=1"}).where(),
             Contains("--set plan.tensor=1"));
}
