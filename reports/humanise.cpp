#include "reports/humanise.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::reports {

namespace {

struct Scale {
  double divisor = 1;
  std::string suffix;
  bool money = false;
  int digits = 3;
};

struct Step {
  double from;  // smallest size that is written with this scale
  double divisor;
  const char* suffix;
};

Scale largest_fitting(double size, const std::vector<Step>& steps) {
  Scale scale{steps.front().divisor, steps.front().suffix};
  for (const Step& step : steps) {
    if (size >= step.from) scale = {step.divisor, step.suffix};
  }
  return scale;
}

// The borders lie where rounding to three digits reaches the next unit.
Scale time_scale(double seconds) {
  return largest_fitting(seconds, {{0, 1e-6, " µs"},
                                   {0.9995e-3, 1e-3, " ms"},
                                   {0.9995, 1, " s"},
                                   {120, 60, " min"},
                                   {7200, 3600, " h"},
                                   {172800, 86400, " days"}});
}

Scale byte_scale(double bytes) {
  constexpr double k = 1024;
  const double round = 0.9995;
  return largest_fitting(bytes, {{0, 1, " B"},
                                 {round * k, k, " KiB"},
                                 {round * k * k, k * k, " MiB"},
                                 {round * k * k * k, k * k * k, " GiB"},
                                 {round * k * k * k * k, k * k * k * k, " TiB"}});
}

// Counts and rates stay whole up to 100,000: samples per second are read, not estimated.
Scale count_scale(double count, const std::string& unit) {
  Scale scale = largest_fitting(count, {{0, 1, " "},
                                        {99999.5, 1e3, " k"},
                                        {0.9995e6, 1e6, " M"},
                                        {0.9995e9, 1e9, " G"},
                                        {0.9995e12, 1e12, " T"},
                                        {0.9995e15, 1e15, " P"}});
  if (unit == "1" || unit.empty()) {
    if (scale.suffix == " ") scale.suffix.clear();
    return scale;
  }
  scale.suffix += (scale.suffix == " " ? "" : " ") + printable(unit);
  return scale;
}

Scale scale_of(double value, const std::string& unit) {
  const double size = std::abs(value);
  if (unit == "s" && size > 0) return time_scale(size);
  if (unit == "bytes") return byte_scale(size);
  if (unit == "fraction") return {0.01, " %", false, 2};
  if (unit.rfind("of ", 0) == 0) return {0.01, " % " + printable(unit), false, 2};  // "of peak"
  if (unit.rfind("usd", 0) == 0) return {1, printable(unit.substr(3)), true};
  return count_scale(size, unit);
}

std::string scaled(double value, const Scale& scale) {
  return scale.money ? format_money(value) : significant(value / scale.divisor, scale.digits);
}

bool has_interval(const Quantity& quantity) {
  return quantity.low != quantity.value || quantity.high != quantity.value;
}

std::string with_interval(const Quantity& quantity, const Scale& scale) {
  const std::string value = scaled(quantity.value, scale) + scale.suffix;
  if (!has_interval(quantity)) return value;
  return fmt::format("{} [{}–{}]", value, scaled(quantity.low, scale), scaled(quantity.high, scale));
}

}  // namespace

std::string number_text(double value, const std::string& unit) {
  if (unit == "0/1") return value != 0 ? "yes" : "no";
  const Scale scale = scale_of(value, unit);
  return scaled(value, scale) + scale.suffix;
}

std::string value_text(const Quantity& quantity) {
  return quantity.known ? number_text(quantity.value, quantity.unit) : "unknown";
}

std::string interval_text(const Quantity& quantity) {
  return quantity.known ? with_interval(quantity, scale_of(quantity.value, quantity.unit)) : "unknown";
}

std::string factor_text(const Quantity& quantity) {
  return quantity.known ? with_interval(quantity, {1, "×"}) : "unknown";
}

std::string share_text(const Quantity& quantity) {
  if (!quantity.known) return "unknown";
  const std::string value = format_percent(quantity.value);
  if (!has_interval(quantity)) return value;
  return fmt::format("{} [{:.0f}–{:.0f}]", value, 100 * quantity.low, 100 * quantity.high);
}

std::string odds_text(double probability) {
  constexpr double rounds_to_none = 0.005;
  if (probability < rounds_to_none) return "< 1 %";
  if (probability > 1 - rounds_to_none) return "> 99 %";
  return format_percent(probability);
}

}  // namespace foretrain::reports
