#include "sim/program.h"

#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::sim;

TEST_CASE("a program is written stream by stream") {
  Program program;
  const std::uint16_t host = program.add_stream("host", StreamKind::host);
  const std::uint16_t compute = program.add_stream("compute", StreamKind::compute);
  const ActivityIndex launch =
      program.add_timed(host, Category::launch, program.add_label("launch"), {microseconds(5), ParameterId{1}});
  const ActivityIndex kernel = program.add_timed(compute, Category::forward, program.add_label("conv1 forward"),
                                                 {microseconds(40), ParameterId{2}}, {launch});
  const ActivityIndex reduce =
      program.add_collective(compute, program.add_communicator("data"), calibrate::CollectiveKind::all_reduce,
                             mebibytes(25), program.add_label("bucket 1"), {launch, kernel});

  REQUIRE(program.activities.size() == 3);
  CHECK(program.labels[program.activities[kernel].label] == "conv1 forward");
  CHECK(program.activities[kernel].duration.time == microseconds(40));
  CHECK(program.activities[kernel].stream == compute);
  CHECK_FALSE(program.activities[kernel].is_collective);

  const Activity& collective = program.activities[reduce];
  CHECK(collective.is_collective);
  CHECK(collective.category == Category::communication);
  CHECK(collective.bytes == mebibytes(25));
  CHECK(program.communicators[collective.communicator] == "data");
  REQUIRE(collective.dependency_count == 2);
  CHECK(program.dependencies[collective.first_dependency] == launch);
  CHECK(program.dependencies[collective.first_dependency + 1] == kernel);
}

TEST_CASE("a communicator is named once") {
  Program program;
  const std::uint16_t data = program.add_communicator("data");
  CHECK(program.add_communicator("tensor") != data);
  CHECK(program.add_communicator("data") == data);
  CHECK(program.communicators.size() == 2);
}

TEST_CASE("categories have the names of breakdowns") {
  CHECK(std::string(to_string(Category::forward)) == "forward");
  CHECK(std::string(to_string(Category::optimizer)) == "optimizer");
  CHECK(std::string(to_string(Category::input)) == "input");
}
