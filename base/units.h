// Units: time, data and work as types.
//
// A quantity is a double with its unit in its type, so that bytes are never added to seconds and a
// bandwidth is never taken for a duration. Inside foretrain everything is SI: seconds, bytes, bytes
// per second, floating-point operations (a multiply-add counts as two). Text and files use the keys'
// own units (`bandwidth_gbytes_per_s`) and convert at the border.
#pragma once

#include <compare>

namespace foretrain {

template <class Tag>
struct Measure {
  double value = 0.0;

  constexpr Measure() = default;
  constexpr explicit Measure(double v) : value(v) {}

  constexpr Measure& operator+=(Measure other) {
    value += other.value;
    return *this;
  }
  constexpr Measure& operator-=(Measure other) {
    value -= other.value;
    return *this;
  }
  constexpr Measure& operator*=(double factor) {
    value *= factor;
    return *this;
  }

  friend constexpr Measure operator+(Measure a, Measure b) { return Measure(a.value + b.value); }
  friend constexpr Measure operator-(Measure a, Measure b) { return Measure(a.value - b.value); }
  friend constexpr Measure operator*(Measure a, double factor) { return Measure(a.value * factor); }
  friend constexpr Measure operator*(double factor, Measure a) { return Measure(a.value * factor); }
  friend constexpr Measure operator/(Measure a, double divisor) { return Measure(a.value / divisor); }
  friend constexpr double operator/(Measure a, Measure b) { return a.value / b.value; }
  friend constexpr auto operator<=>(Measure a, Measure b) = default;
};

using Seconds = Measure<struct SecondsTag>;
using Bytes = Measure<struct BytesTag>;
using BytesPerSecond = Measure<struct BytesPerSecondTag>;
using Flops = Measure<struct FlopsTag>;
using FlopsPerSecond = Measure<struct FlopsPerSecondTag>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) { return Seconds(amount.value / rate.value); }
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return Seconds(work.value / rate.value); }
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) { return Bytes(rate.value * time.value); }
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) { return BytesPerSecond(amount.value / time.value); }
constexpr FlopsPerSecond operator/(Flops work, Seconds time) { return FlopsPerSecond(work.value / time.value); }

constexpr Seconds microseconds(double v) { return Seconds(v * 1e-6); }
constexpr Bytes mebibytes(double v) { return Bytes(v * 1024.0 * 1024.0); }
constexpr BytesPerSecond gbytes_per_s(double v) { return BytesPerSecond(v * 1e9); }
constexpr BytesPerSecond gbits_per_s(double v) { return BytesPerSecond(v * 1e9 / 8.0); }
constexpr FlopsPerSecond tflops_per_s(double v) { return FlopsPerSecond(v * 1e12); }

}  // namespace foretrain
