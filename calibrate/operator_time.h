// Operator time: how long one operator runs on one device, and on which uncertain number that rests.
#pragma once

#include <string>

#include "base/parameter.h"
#include "calibrate/device.h"
#include "models/operator.h"

namespace foretrain::calibrate {

enum class Direction { forward, backward };

struct OperatorTime {
  Duration duration;
  Provenance provenance = Provenance::assumed;
  std::string formula;  // for explain: "GEMM 2·m·n·k / (312 TFLOP/s · 0.71)", "memory 96 MiB / 1.42 TB/s", "launch floor"
  bool extrapolated = false;  // outside the calibrated range
};

// Times operators on one device in one precision; parameters are added to `parameters` as they are used.
class OperatorClock {
 public:
  // Throws Error when the device does not support `precision` (the message lists what it supports).
  // `fused_attention`: the stack uses a flash kernel; else the score matrix is written and read.
  OperatorClock(const Device& device, models::Precision precision, bool fused_attention,
                ParameterTable& parameters);

  [[nodiscard]] OperatorTime time(const models::Operator& op, Direction direction) const;
  // A pass over `bytes` of device memory (optimizer, casts, gradient copies).
  [[nodiscard]] OperatorTime memory_pass(Bytes bytes) const;

 private:
  const Device& device_;
  models::Precision precision_;
  bool fused_attention_;
  ParameterTable& parameters_;
};

}  // namespace foretrain::calibrate
