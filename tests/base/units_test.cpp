#include "base/units.h"

#include <type_traits>

#include "tests/catch.h"

using namespace foretrain;

namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

}  // namespace

TEST_CASE("units combine as physics does") {
  // 25 MiB = 26,214,400 bytes over 12.5 GB/s: 2.097152 ms
  const Seconds time = mebibytes(25) / gbytes_per_s(12.5);
  CHECK(time.value == Approx(2.097152e-3).epsilon(1e-12));
  CHECK((gbytes_per_s(12.5) * time).value == Approx(26214400.0).epsilon(1e-12));
  CHECK((mebibytes(25) / time).value == Approx(12.5e9).epsilon(1e-12));
  // 312 TFLOP/s for 1 ms: 3.12e11 operations
  CHECK((Flops(3.12e11) / tflops_per_s(312)).value == Approx(1e-3).epsilon(1e-12));
}

TEST_CASE("a network rate in bits is an eighth of it in bytes") {
  CHECK(gbits_per_s(100).value == Approx(gbytes_per_s(12.5).value).epsilon(1e-12));
}

TEST_CASE("the ratio of two equal units is a plain number") {
  STATIC_REQUIRE(std::is_same_v<decltype(Seconds(3.0) / Seconds(2.0)), double>);
  CHECK(Seconds(3.0) / Seconds(2.0) == Approx(1.5).epsilon(1e-12));
}

TEST_CASE("different units cannot be added, and a number is no unit") {
  STATIC_REQUIRE(Addable<Seconds, Seconds>);
  STATIC_REQUIRE_FALSE(Addable<Seconds, Bytes>);
  STATIC_REQUIRE_FALSE(Addable<Bytes, BytesPerSecond>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Seconds>);
}

TEST_CASE("measures order and accumulate") {
  Seconds total;
  total += microseconds(250);
  total += microseconds(750);
  total *= 2.0;
  total -= Seconds(0.5e-3);
  CHECK(total.value == Approx(1.5e-3).epsilon(1e-12));
  CHECK(microseconds(1) < Seconds(1.0));
}
