#include "base/parameter.h"

#include <cmath>

#include "tests/catch.h"

using namespace foretrain;

namespace {

Parameter named(const std::string& name, double spread) {
  Parameter parameter;
  parameter.name = name;
  parameter.relative_spread = spread;
  return parameter;
}

}  // namespace

TEST_CASE("a parameter is added once and the first one stays") {
  ParameterTable table;
  const ParameterId gemm = table.add(named("gemm", 0.05));
  const ParameterId launch = table.add(named("launch", 0.2));
  CHECK(table.add(named("gemm", 0.5)) == gemm);
  CHECK_FALSE(gemm == launch);
  CHECK(table.size() == 2);
  CHECK(table.at(gemm).relative_spread == 0.05);
}

TEST_CASE("the neutral draw changes nothing") {
  ParameterTable table;
  table.add(named("a", 0.3));
  table.add(named("b", 0.3));
  CHECK(neutral_draw(table) == Draw{1.0, 1.0});
}

TEST_CASE("a draw depends on seed, replay and name only: alternatives share it") {
  ParameterTable one;
  one.add(named("gemm", 0.1));
  one.add(named("network", 0.2));
  ParameterTable other;  // another alternative: more parameters, in another order
  other.add(named("network", 0.2));
  other.add(named("memory", 0.1));
  other.add(named("gemm", 0.1));
  const Draw a = random_draw(one, 7, 3);
  const Draw b = random_draw(other, 7, 3);
  CHECK(a[0] == b[2]);
  CHECK(a[1] == b[0]);
  CHECK(random_draw(one, 7, 3) == a);
  CHECK_FALSE(random_draw(one, 7, 4) == a);
  CHECK_FALSE(random_draw(one, 8, 3) == a);
}

TEST_CASE("seed and replay are not interchangeable") {
  ParameterTable table;
  table.add(named("gemm", 0.1));
  CHECK_FALSE(random_draw(table, 1, 2) == random_draw(table, 2, 1));
  CHECK_FALSE(random_draw(table, 0, 0) == random_draw(table, 1, 1));
}

TEST_CASE("without spread a draw is exactly one") {
  ParameterTable table;
  table.add(named("exact", 0.0));
  CHECK(random_draw(table, 1, 1) == Draw{1.0});
}

TEST_CASE("draws are log-normal with median 1 and the parameter's spread, independent between parameters") {
  ParameterTable table;
  table.add(named("a", 0.1));
  table.add(named("b", 0.3));
  constexpr int replays = 20000;
  double sum_a = 0.0;
  double sum_b = 0.0;
  double squares_a = 0.0;
  double squares_b = 0.0;
  double products = 0.0;
  for (int replay = 0; replay < replays; ++replay) {
    const Draw draw = random_draw(table, 42, static_cast<std::uint64_t>(replay));
    const double a = std::log(draw[0]) / 0.1;
    const double b = std::log(draw[1]) / 0.3;
    sum_a += a, sum_b += b, squares_a += a * a, squares_b += b * b, products += a * b;
  }
  // Standard errors of these means over 20,000 draws: 1/sqrt(20000) = 0.007, sqrt(2/20000) = 0.01; four of them
  // allowed.
  CHECK(sum_a / replays == Approx(0.0).margin(0.028));
  CHECK(sum_b / replays == Approx(0.0).margin(0.028));
  CHECK(squares_a / replays == Approx(1.0).margin(0.04));
  CHECK(squares_b / replays == Approx(1.0).margin(0.04));
  CHECK(products / replays == Approx(0.0).margin(0.028));
}

TEST_CASE("provenance has a word for each kind") {
  CHECK(std::string(to_string(Provenance::measured)) == "measured");
  CHECK(std::string(to_string(Provenance::interpolated)) == "interpolated");
  CHECK(std::string(to_string(Provenance::fitted)) == "fitted");
  CHECK(std::string(to_string(Provenance::datasheet)) == "datasheet");
  CHECK(std::string(to_string(Provenance::assumed)) == "assumed");
  CHECK(std::string(to_string(Provenance::given)) == "given");
}
