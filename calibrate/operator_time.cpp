#include "calibrate/operator_time.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "calibrate/attention_time.h"

namespace foretrain::calibrate {
namespace {

using models::Operator;
using models::OperatorKind;
using models::Precision;

double real(std::int64_t count) { return static_cast<double>(count); }

std::string supported(const Device& device) {
  std::vector<std::string> names;
  for (const auto& [precision, peak] : device.peak) names.emplace_back(models::to_string(precision));
  return joined(names);
}

FlopsPerSecond peak_of(const Device& device, Precision precision) {
  const auto found = device.peak.find(precision);
  if (found != device.peak.end()) return found->second;
  throw Error(fmt::format("{} does not support {}", device.name, models::to_string(precision)), "/training/precision",
              "it supports " + supported(device));
}

// Tensor cores want feature dimensions (those beside the rows of a batch) that are multiples of 16 bytes.
bool is_aligned(const models::GemmShape& s, Precision precision) {
  const int multiple = precision == Precision::fp8 ? 16 : 8;
  return s.n % multiple == 0 && s.k % multiple == 0;
}

// A product of two activations has no weights: both of its gradients are needed at once to go on.
bool has_weights(const Operator& op) {
  return !op.parameters.empty() || !op.frozen_parameters.empty() || !op.tied_parameters.empty();
}

bool has_bias(const Operator& op) {
  return has_weights(op) && op.parameters.size() > 1 && op.parameters.back().shape.size() == 1;
}

bool gradients_come_apart(const Operator& op) {
  if (op.sequential_steps > 0) return false;
  if (std::holds_alternative<models::ConvolutionShape>(op.shape)) return true;
  return std::holds_alternative<models::GemmShape>(op.shape) && has_weights(op);
}

std::string rate_text(Flops work, Seconds time, FlopsPerSecond peak) {
  return fmt::format("{}FLOPs at {} of {} TFLOP/s", format_count(work.value),
                     format_percent(time.value > 0 ? work / time / peak : 0), significant(peak.value / 1e12));
}

double best_share(const ProductProfile& profile) {
  double best = 0;
  for (const Tile& tile : profile.tiles) best = std::max(best, tile.share);
  return best * profile.sustained;
}

}  // namespace

OperatorClock::OperatorClock(const Device& device, Precision precision, const KernelChoices& choices,
                             ParameterTable& parameters)
    : device_(device),
      precision_(precision),
      gemm_(rate_in(precision)),
      matrix_(rate_in(precision == Precision::fp8 ? Precision::bf16 : precision)),
      attention_(choices.attention_generation > 0 && models::is_mixed(precision)
                     ? attention_profile(device, choices.attention_generation)
                     : nullptr),
      gradient_sum_bytes_(choices.gradient_sum_bytes),
      parameters_(parameters) {}

OperatorTime OperatorClock::nothing(const char* why) const {
  OperatorTime result;
  result.duration.parameter = floor_parameter();
  result.provenance = device_.floors.provenance;
  result.formula = why;
  return result;
}

OperatorTime OperatorClock::time(const Operator& op, Direction direction) const {
  if (op.forward_only && direction != Direction::forward) return nothing("runs forward only");
  if (!gradients_come_apart(op)) {
    if (direction == Direction::weight_gradient) return nothing("both gradients at once");
    if (direction == Direction::input_gradient) direction = Direction::backward;
  } else if (direction == Direction::input_gradient && !op.needs_input_gradient) {
    return nothing("its input needs no gradient");
  }
  OperatorTime result;
  if (const auto* gemm_shape = std::get_if<models::GemmShape>(&op.shape)) {
    result = gemm(*gemm_shape, op, direction);
  } else if (const auto* convolution_shape = std::get_if<models::ConvolutionShape>(&op.shape)) {
    result = convolution(*convolution_shape, op, direction);
  } else if (const auto* recurrent_shape = std::get_if<models::RecurrentShape>(&op.shape)) {
    result = recurrent(*recurrent_shape, op, direction);
  } else if (const auto* attention_shape = std::get_if<models::AttentionShape>(&op.shape)) {
    result = attention(*attention_shape, op, direction);
  } else {
    result = memory(op, direction);
  }
  const Seconds steps = device_.dependent_step * op.sequential_steps;
  if (result.duration.time < steps) {
    result.duration = {steps, floor_parameter()};
    result.provenance = device_.floors.provenance;
    result.formula = fmt::format("{} dependent steps of {}", op.sequential_steps, format_time(device_.dependent_step));
  }
  return result;
}

OperatorTime OperatorClock::memory_pass(Bytes bytes) const {
  const Curved pass = memory_time(bytes, OperatorKind::elementwise, 1);
  const bool floor = pass.time <= device_.kernel_floor;
  OperatorTime result;
  result.duration = {pass.time, floor ? floor_parameter() : memory_parameter()};
  result.provenance = floor ? device_.floors.provenance : device_.memory_curve.evidence.provenance;
  result.formula = fmt::format("{} at {} of {}", format_bytes(bytes), format_percent(pass.share),
                               format_rate(device_.memory_bandwidth));
  return result;
}

OperatorClock::MatrixRate OperatorClock::rate_in(Precision precision) const {
  return {precision, precision == Precision::bf16 ? Precision::fp16 : precision, peak_of(device_, precision)};
}

const OperatorClock::MatrixRate& OperatorClock::rate_of(const Operator& gemm) const {
  const bool output_layer = gemm.tensor_split == models::TensorSplit::vocabulary;
  return has_weights(gemm) && !output_layer ? gemm_ : matrix_;
}

ProductMachine OperatorClock::machine(const MatrixRate& rate) const {
  return {device_.products.at(rate.profile), rate.peak, device_.multiprocessors, device_.memory_bandwidth,
          models::activation_bytes(precision_)};
}

KernelTime OperatorClock::product(const ProductSize& size) const { return product_time(machine(matrix_), size); }

// `kernels` equal passes that move `bytes` together.
OperatorClock::Curved OperatorClock::memory_time(Bytes bytes, OperatorKind kind, double kernels) const {
  const auto kind_share = device_.memory_kind_share.find(models::to_string(kind));
  Curved result;
  const double per_kernel = bytes.value / std::max(kernels, 1.0);
  result.share = device_.memory_curve.at(per_kernel, result.outside) *
                 (kind_share == device_.memory_kind_share.end() ? 1.0 : kind_share->second);
  result.outside = per_kernel > device_.memory_curve.work.back();  // below, the kernel floor takes over
  result.time = std::max(bytes / (device_.memory_bandwidth * result.share), device_.kernel_floor * kernels);
  return result;
}

KernelTime OperatorClock::cast_to_eight_bits(double elements) const {
  constexpr double read = 2, written = 1 + 1;
  KernelTime time;
  if (elements <= 0) return time;
  time.memory = memory_time(Bytes((read + written) * elements), OperatorKind::elementwise, 1).time;
  time.total = time.memory;
  return time;
}

// A product that adds to a stored gradient wider than its operands reads and writes more at the end of every tile, some
// of which nothing hides: SimuMax' tables of A100 and B200 show 2 to 3 bytes per weight of fp32 gradients whatever the
// inner dimension (2048 to 16384 tokens), next to nothing of bf16 ones.
KernelTime OperatorClock::gradient_sum(const MatrixRate& rate, double weights) const {
  constexpr double shown = 1.25;  // 2.5 bytes of fp32 gradients, which are 2 wider (2.3 on the A100, 3.1 on the B200)
  const double wider = std::max(0.0, gradient_sum_bytes_ - models::activation_bytes(precision_));
  const ProductMachine products = machine(rate);
  KernelTime time;
  time.memory = Bytes(shown * wider * weights) / (products.memory_bandwidth * products.profile.memory_share);
  time.total = time.memory;
  return time;
}

OperatorTime OperatorClock::gemm(const models::GemmShape& s, const Operator& op, Direction direction) const {
  const double batch = real(s.batch), m = real(s.m), n = real(s.n), k = real(s.k);
  const MatrixRate& rate = rate_of(op);
  const bool aligned = is_aligned(s, rate.precision);
  const bool both = op.needs_input_gradient;
  const double products = direction == Direction::backward && both ? 2 : 1;
  KernelTime time;
  const auto add = [&](const ProductSize& size) { time += product_time(machine(rate), size); };
  const auto add_kernels_beyond = [&](double kernels) {  // a bias, a reduction
    const Seconds others = device_.kernel_floor * std::max(0.0, kernels);
    time.total += others;
    time.fixed += others;
  };
  const bool eight_bits = rate.precision == Precision::fp8;
  if (direction == Direction::forward) {
    if (eight_bits) time += cast_to_eight_bits(op.saved_elements);
    add({batch, m, n, k, aligned});
    add_kernels_beyond(op.kernels_forward - 1);
  }
  if (direction == Direction::backward || direction == Direction::weight_gradient) {
    add({batch, k, n, m, aligned});  // by the second operand
    if (has_weights(op)) time += gradient_sum(rate, batch * k * n);
    // A bias' gradient reads that of the output; casts to eight bits sum it up on the way.
    if (has_bias(op) && !eight_bits) {
      const Curved sum = memory_time(Bytes(batch * m * n * models::activation_bytes(precision_)),
                                     OperatorKind::elementwise, op.kernels_backward - (both ? 2 : 1));
      time.total += sum.time;
      time.memory += sum.time;
    } else {
      add_kernels_beyond(op.kernels_backward - (both ? 2 : 1));
    }
  }
  if ((direction == Direction::backward && both) || direction == Direction::input_gradient) {
    add({batch, m, k, n, aligned});
  }

  const bool first_on_the_way_back =
      direction == Direction::backward || direction == (both ? Direction::input_gradient : Direction::weight_gradient);
  if (eight_bits && first_on_the_way_back) time += cast_to_eight_bits(batch * m * n);

  const ProductProfile& profile = device_.products.at(rate.profile);
  const Flops work = models::forward_flops(op) * products;
  OperatorTime result;
  result.duration = {time.total, binding(time, gemm_parameter(rate))};
  result.provenance = profile.evidence.provenance;
  result.formula = "GEMM: " + rate_text(work, time.total, rate.peak);
  result.extrapolated = models::forward_flops(op).value > profile.most_flops;
  return result;
}

OperatorTime OperatorClock::convolution(const models::ConvolutionShape& s, const Operator& op,
                                        Direction direction) const {
  const ConvolutionProfile& profile = device_.convolutions.at(matrix_.profile);
  const bool both = direction == Direction::backward && op.needs_input_gradient;
  KernelTime time;
  const auto add = [&](ConvolutionPass pass) { time += convolution_time(machine(matrix_), profile, s, pass); };
  if (direction == Direction::forward) add(ConvolutionPass::forward);
  if (direction == Direction::backward || direction == Direction::weight_gradient) {
    add(ConvolutionPass::weight_gradient);
  }
  if (both || direction == Direction::input_gradient) add(ConvolutionPass::input_gradient);
  const Flops work = models::forward_flops(op) * (both ? 2.0 : 1.0);
  const double share = best_share(device_.products.at(matrix_.profile)) * profile.forward;
  OperatorTime result;
  result.duration = {time.total,
                     binding(time, rate_parameter("convolution efficiency", matrix_, profile.evidence, share))};
  result.provenance = profile.evidence.provenance;
  result.formula = "convolution: " + rate_text(work, time.total, matrix_.peak);
  result.extrapolated = models::forward_flops(op).value > profile.most_flops || s.groups > 1;
  return result;
}

// One product for the inputs of all steps, then the steps one after the other; both directions of a
// bidirectional layer one after the other. Backward runs the steps again and adds the gradients by input and
// by both weights, which are products over all steps.
OperatorTime OperatorClock::recurrent(const models::RecurrentShape& s, const Operator& op, Direction direction) const {
  const double rows = real(s.batch) * real(s.steps), gates = real(s.gates) * real(s.hidden);
  const double hidden = real(s.hidden), input = real(s.input), batch = real(s.batch);
  const bool forward = direction == Direction::forward;
  const Seconds fixed_step = forward ? device_.recurrent.forward_step : device_.recurrent.backward_step;
  KernelTime step = product(forward ? ProductSize{1, batch, gates, hidden} : ProductSize{1, batch, hidden, gates});
  step.total += fixed_step - step.fixed;  // the fixed time is that of a whole step
  step.fixed = Seconds(0);
  step.steps = fixed_step;
  KernelTime time = real(s.steps) * step;
  if (forward) {
    time += product({1, rows, gates, input});
  } else {
    if (op.needs_input_gradient) time += product({1, rows, input, gates});
    time += product({1, gates, input, rows});
    time += product({1, gates, hidden, rows});
  }
  time = real(s.directions) * time;

  OperatorTime result;
  result.duration = {time.total, binding(time, gemm_parameter(matrix_))};
  result.provenance = device_.recurrent.evidence.provenance;
  result.formula = fmt::format("recurrent: {} dependent steps of {}, products in between",
                               s.steps * s.directions, format_time(step.total));
  return result;
}

OperatorTime OperatorClock::attention(const models::AttentionShape& s, const Operator& op, Direction direction) const {
  return attention_ != nullptr ? fused_attention(s, op, direction) : unfused_attention(s, op, direction);
}

OperatorTime OperatorClock::fused_attention(const models::AttentionShape& s, const Operator& op,
                                            Direction direction) const {
  constexpr double backward_kernels = 3;
  const bool forward = direction == Direction::forward;
  const double kernels = forward ? 1 : backward_kernels;
  const AttentionPass& pass = forward ? attention_->forward : attention_->backward;
  const Seconds compute = attention_time(pass, s, forward, matrix_.peak, device_.multiprocessors);
  const Bytes bytes((forward ? models::forward_elements(op) : models::backward_elements(op)) *
                    models::activation_bytes(precision_));
  const Curved passes = memory_time(bytes, OperatorKind::attention, kernels);
  const Evidence& evidence = attention_->evidence;
  OperatorTime result;
  result.duration = {compute, rate_parameter("attention efficiency", matrix_, evidence, pass.share)};
  if (passes.time > compute) result.duration = {passes.time, memory_parameter()};
  result.duration.time += device_.kernel_floor * kernels;
  result.provenance = evidence.provenance;
  result.formula =
      "fused attention: " + rate_text(attention_work(s, forward), result.duration.time, matrix_.peak);
  return result;
}

OperatorTime OperatorClock::unfused_attention(const models::AttentionShape& s, const Operator& op,
                                              Direction direction) const {
  const bool forward = direction == Direction::forward;
  const double batch = real(s.batch) * real(s.heads);
  const double queries = real(s.query_length), keys = real(s.key_length), width = real(s.head_dimension);
  const ProductSize scores{batch, queries, keys, width}, context{batch, queries, width, keys};
  KernelTime time = product(scores);
  time += product(context);
  if (!forward) {  // by both operands of both: the same four sizes, transposed
    time += product({batch, keys, width, queries});
    time += product({batch, keys, width, queries});
  }
  const UnfusedAttention& profile = device_.unfused_attention;
  const double passes = forward ? profile.forward_passes : profile.backward_passes;
  const Bytes bytes(models::score_elements(s) * passes * models::activation_bytes(precision_));
  const double products = forward ? 2 : 4;
  const double kernels = std::max(1.0, (forward ? op.kernels_forward : op.kernels_backward) - products);
  const Curved pass = memory_time(bytes, OperatorKind::attention, kernels);
  time.memory += pass.time;
  time.total += pass.time;

  OperatorTime result;
  result.duration = {time.total, binding(time, gemm_parameter(matrix_))};
  result.provenance = profile.evidence.provenance;
  result.formula = fmt::format("unfused attention: {} batched products and {} over the scores", products,
                               format_bytes(bytes));
  return result;
}

OperatorTime OperatorClock::memory(const Operator& op, Direction direction) const {
  const bool forward = direction == Direction::forward;
  // Autocast runs softmax and losses in fp32.
  const bool wide = op.kind == OperatorKind::softmax || op.kind == OperatorKind::loss;
  const double element = models::activation_bytes(wide ? Precision::fp32 : precision_);
  const Bytes bytes((forward ? models::forward_elements(op) : models::backward_elements(op)) * element);
  const double kernels = std::max(1.0, forward ? op.kernels_forward : op.kernels_backward);
  const Curved pass = memory_time(bytes, op.kind, kernels);
  const bool floor = pass.time <= device_.kernel_floor * kernels;
  OperatorTime result;
  result.duration = {pass.time, floor ? floor_parameter() : memory_parameter()};
  result.provenance = floor ? device_.floors.provenance : device_.memory_curve.evidence.provenance;
  result.formula = floor ? fmt::format("{} × shortest kernel {}", kernels, format_time(device_.kernel_floor))
                         : fmt::format("{} at {} of {}", format_bytes(bytes), format_percent(pass.share),
                                       format_rate(device_.memory_bandwidth));
  result.extrapolated = pass.outside;
  return result;
}

ParameterId OperatorClock::binding(const KernelTime& time, ParameterId compute) const {
  const Seconds longest = std::max({time.compute, time.memory, time.fixed, time.steps});
  if (longest == time.steps) return recurrent_parameter();
  if (longest == time.compute) return compute;
  return longest == time.memory ? memory_parameter() : floor_parameter();
}

ParameterId OperatorClock::gemm_parameter(const MatrixRate& rate) const {
  const ProductProfile& profile = device_.products.at(rate.profile);
  return rate_parameter("GEMM efficiency", rate, profile.evidence, best_share(profile));
}

ParameterId OperatorClock::rate_parameter(const char* what, const MatrixRate& rate, const Evidence& evidence,
                                          double share) const {
  return parameters_.add({fmt::format("{} of {} in {}", what, device_.chip, models::to_string(rate.precision)),
                          evidence.relative_spread, evidence.provenance, evidence.source, share, "of peak"});
}

ParameterId OperatorClock::memory_parameter() const {
  const Evidence& evidence = device_.memory_curve.evidence;
  const double rate = device_.memory_bandwidth.value * device_.memory_curve.share.back();
  return parameters_.add({"memory bandwidth of " + device_.chip, evidence.relative_spread, evidence.provenance,
                          evidence.source, rate / 1e9, "GB/s"});
}

ParameterId OperatorClock::floor_parameter() const {
  return parameters_.add({"kernel floor of " + device_.chip, device_.floors.relative_spread, device_.floors.provenance,
                          device_.floors.source, device_.kernel_floor.value * 1e6, "µs"});
}

ParameterId OperatorClock::recurrent_parameter() const {
  const Evidence& evidence = device_.recurrent.evidence;
  return parameters_.add({"recurrent step of " + device_.chip, evidence.relative_spread, evidence.provenance,
                          evidence.source, device_.recurrent.forward_step.value * 1e6, "µs"});
}

}  // namespace foretrain::calibrate
