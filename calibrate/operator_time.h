// Operator time: how long one operator runs on one device, and on which uncertain number that rests.
#pragma once

#include <string>

#include "base/parameter.h"
#include "calibrate/device.h"
#include "calibrate/product_time.h"
#include "models/operator.h"

namespace foretrain::calibrate {

// `backward` is both gradients; a zero-bubble schedule runs them apart. Of products with weights and of convolutions
// they are a pass each, whose times add up to that of `backward` (kernels beyond them go with the weight gradient); all
// that other operators do on the way back is their input gradient.
enum class Direction { forward, backward, input_gradient, weight_gradient };

struct OperatorTime {
  Duration duration;
  Provenance provenance = Provenance::assumed;
  std::string formula;  // for explain: "GEMM: 34.4 GFLOPs at 71 % of 312 TFLOP/s", "96 MiB at 86 % of 2039 GB/s"
  bool extrapolated = false;  // far outside the calibrated range
};

// Which kernels a software stack runs.
struct KernelChoices {
  int attention_generation = 0;   // of fused attention (AttentionProfile); 0: the score matrix is written and read
  double gradient_sum_bytes = 0;  // of a stored gradient that weight-gradient products add to; 0: they add to none
};

// Times operators on one device in one precision; parameters are added to `parameters` as they are used. Under fp8 only
// products of activations and weights run in it, as Transformer Engine has it; attention, convolutions, recurrent
// layers and output layers over a vocabulary stay in bf16. Their operands are cast on the way: inputs that are kept and
// gradients of outputs are read in two bytes and written in one, as they are and transposed (casts of weights, once a
// step, are left out).
class OperatorClock {
 public:
  // Throws Error when the device does not support `precision` (the message lists what it supports).
  // A device without fused attention runs none.
  OperatorClock(const Device& device, models::Precision precision, const KernelChoices& choices,
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
  struct MatrixRate {
    models::Precision precision;  // what it is called
    models::Precision profile;    // whose profiles are used: fp16's for bf16
    FlopsPerSecond peak;
  };
  [[nodiscard]] MatrixRate rate_in(models::Precision precision) const;
  [[nodiscard]] const MatrixRate& rate_of(const models::Operator& gemm) const;
  [[nodiscard]] ProductMachine machine(const MatrixRate& rate) const;
  [[nodiscard]] KernelTime product(const ProductSize& size) const;  // at the rate of `matrix_`
  [[nodiscard]] Curved memory_time(Bytes bytes, models::OperatorKind kind, double kernels) const;

  [[nodiscard]] KernelTime cast_to_eight_bits(double elements) const;
  [[nodiscard]] KernelTime gradient_sum(const MatrixRate& rate, double weights) const;
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
  [[nodiscard]] OperatorTime nothing(const char* why) const;

  // The parameter of what takes longest in `time`; `compute` is that of its arithmetic.
  [[nodiscard]] ParameterId binding(const KernelTime& time, ParameterId compute) const;
  [[nodiscard]] ParameterId rate_parameter(const char* what, const MatrixRate& rate, const Evidence& evidence,
                                           double share) const;
  [[nodiscard]] ParameterId gemm_parameter(const MatrixRate& rate) const;
  [[nodiscard]] ParameterId memory_parameter() const;
  [[nodiscard]] ParameterId floor_parameter() const;
  [[nodiscard]] ParameterId recurrent_parameter() const;

  const Device& device_;
  models::Precision precision_;
  MatrixRate gemm_;    // of products with weights, the output layer's apart
  MatrixRate matrix_;  // of all other matrix work: under fp8 that of bf16
  const AttentionProfile* attention_;  // null: unfused
  double gradient_sum_bytes_;
  ParameterTable& parameters_;
};

}  // namespace foretrain::calibrate
