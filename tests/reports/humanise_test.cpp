#include "reports/humanise.h"

#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::reports;

namespace {

Quantity quantity(double value, double low, double high, const std::string& unit) {
  return {value, low, high, unit, "", true};
}

}  // namespace

TEST_CASE("times take the unit in which they are read") {
  CHECK(number_text(5.2e-6, "s") == "5.20 µs");
  CHECK(number_text(0.312, "s") == "312 ms");
  CHECK(number_text(4.2, "s") == "4.20 s");
  CHECK(number_text(600, "s") == "10.0 min");
  CHECK(number_text(3 * 3600.0, "s") == "3.00 h");
  CHECK(number_text(3 * 86400.0, "s") == "3.00 days");
  CHECK(number_text(0, "s") == "0 s");
}

TEST_CASE("rounding never shows a thousand of a smaller unit") {
  CHECK(number_text(0.99949, "s") == "999 ms");
  CHECK(number_text(0.9997, "s") == "1.00 s");
  CHECK(number_text(0.9997e-3, "s") == "1.00 ms");
  CHECK(number_text(1024.0 * 1024.0 * 0.9999, "bytes") == "1.00 MiB");
}

TEST_CASE("sizes are binary, counts and money decimal") {
  CHECK(number_text(25.0 * 1024 * 1024, "bytes") == "25.0 MiB");
  CHECK(number_text(3284, "samples/s") == "3284 samples/s");
  CHECK(number_text(123456, "samples/s") == "123 k samples/s");
  CHECK(number_text(3.67, "usd/h") == "$3.67/h");
  CHECK(number_text(12345, "usd") == "$12,345");
  CHECK(number_text(9.0e6, "1") == "9.00 M");
  CHECK(number_text(0.718, "of peak") == "72 % of peak");
  CHECK(number_text(0.0035, "fraction") == "0.35 %");
}

TEST_CASE("an interval is in the unit of its value") {
  CHECK(interval_text(quantity(0.312, 0.28, 0.35, "s")) == "312 ms [280–350]");
  CHECK(interval_text(quantity(0.95, 0.9, 1.2, "s")) == "950 ms [900–1200]");
  CHECK(interval_text(quantity(27, 25, 30, "usd")) == "$27.00 [$25.00–$30.00]");
  CHECK(factor_text(quantity(13.1, 12.4, 13.6, "1")) == "13.1× [12.4–13.6]");
  CHECK(share_text(quantity(0.82, 0.78, 0.85, "1")) == "82 % [78–85]");
}

TEST_CASE("a certain number has no interval, an unknown one no value") {
  CHECK(interval_text(quantity(3.67, 3.67, 3.67, "usd/h")) == "$3.67/h");
  Quantity nothing = quantity(0, 0, 0, "usd");
  nothing.known = false;
  CHECK(interval_text(nothing) == "unknown");
  CHECK(factor_text(nothing) == "unknown");
  CHECK(share_text(nothing) == "unknown");
  CHECK(value_text(nothing) == "unknown");
}

TEST_CASE("odds are never certainty") {
  CHECK(odds_text(0.624) == "62 %");
  CHECK(odds_text(1.0) == "> 99 %");
  CHECK(odds_text(0.0) == "< 1 %");
}
