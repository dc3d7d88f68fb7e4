// Operator time: how long one operator runs on one device, and on which uncertain number that rests.
#pragma once

#include <string>

#include "base/parameter.h"
#include "calibrate/device.h"
#include "calibrate/product_time.h"
#include "models/operator.h"

namespace foretrain::calibrate {

enum class Direction { forward, backward };

struct OperatorTime {
  Duration duration;
  Provenance provenance = Provenance::assumed;
  std::string formula;  // for explain: "GEMM: 34.4 GFLOPs at 71 % of 312 TFLOP/s", "96 MiB at 86 % of 2039 GB/s"
  bool extrapolated = false;  // far outside the calibrated range
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
  struct Curved {  // a time read off an efficiency curve
    Seconds time;
    double share = 1;
    bool outside = false;
  };
  [[nodiscard]] ProductMachine machine() const;
  [[nodiscard]] KernelTime product(const ProductSize& size) const;
  [[nodiscard]] Curved memory_time(Bytes bytes, models::OperatorKind kind, double kernels) const;

  [[nodiscard]] OperatorTime gemm(const models::GemmShape& shape, const models::Operator& op,
                                  Direction direction) const;
  [[nodiscard]] OperatorTime convolution(const models::ConvolutionShape& shape, const models::Operator& op,
                                         Direction direction) const;
  [[nodiscard]] OperatorTime recurrent(const models::RecurrentShape& shape, const models::Operator& op,
                                       Direction direction) const;
  [[nodiscard]] OperatorTime attention(const models::AttentionShape& shape, const models::Operator& op,
                                       Direction direction) const;
  [[nodiscard]] OperatorTime fused_attention(const models::AttentionShape& shape, const models::Operator& op,
                                             Direction direction) const;
  [[nodiscard]] OperatorTime unfused_attention(const models::AttentionShape& shape, const models::Operator& op,
                                               Direction direction) const;
  [[nodiscard]] OperatorTime memory(const models::Operator& op, Direction direction) const;

  // The parameter of what takes longest in `time`; `compute` is that of its arithmetic.
  [[nodiscard]] ParameterId binding(const KernelTime& time, ParameterId compute) const;
  [[nodiscard]] ParameterId rate_parameter(const char* what, const Evidence& evidence, double share) const;
  [[nodiscard]] ParameterId memory_parameter() const;
  [[nodiscard]] ParameterId floor_parameter() const;
  [[nodiscard]] ParameterId recurrent_parameter() const;

  const Device& device_;
  models::Precision precision_;
  models::Precision profile_precision_;  // whose profiles are used: fp16's for bf16
  FlopsPerSecond peak_;
  bool fused_attention_;
  ParameterTable& parameters_;
};

}  // namespace foretrain::calibrate
