#include "tests/catch.h"

#include <cmath>

#include "base/error.h"
#include "calibrate/attention_time.h"
#include "calibrate/catalogue.h"
#include "calibrate/operator_time.h"

namespace foretrain::calibrate {
namespace {

using Catch::Matchers::Contains;
using models::AttentionShape;
using models::Operator;
using models::OperatorKind;
using models::Precision;

Operator gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  Operator op;
  op.kind = OperatorKind::gemm;
  op.shape = models::GemmShape{batch, m, n, k};
  op.output_elements = static_cast<double>(batch * m * n);
  return op;
}

Operator convolution(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t side, std::int64_t kernel,
                     std::int64_t stride) {
  Operator op;
  op.kind = OperatorKind::convolution;
  models::ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.height = shape.width = side;
  shape.kernel_height = shape.kernel_width = kernel;
  shape.stride_height = shape.stride_width = stride;
  shape.out_height = shape.out_width = side / stride;
  op.shape = shape;
  return op;
}

Operator attention(std::int64_t batch, std::int64_t length) {
  Operator op;
  op.kind = OperatorKind::attention;
  models::AttentionShape shape;
  shape.batch = batch;
  shape.heads = 12;
  shape.query_length = shape.key_length = length;
  shape.head_dimension = 64;
  op.shape = shape;
  return op;
}

Operator lstm(std::int64_t batch, std::int64_t steps, std::int64_t hidden, std::int64_t directions) {
  Operator op;
  op.kind = OperatorKind::recurrent;
  models::RecurrentShape shape;
  shape.batch = batch;
  shape.steps = steps;
  shape.input = 512;
  shape.hidden = hidden;
  shape.directions = directions;
  op.shape = shape;
  return op;
}

Operator pass(OperatorKind kind, double elements, double kernels = 1) {
  Operator op;
  op.kind = kind;
  op.shape = models::MemoryShape{elements / 2, elements / 2, std::nullopt};
  op.kernels_forward = op.kernels_backward = kernels;
  return op;
}

std::vector<Operator> many_operators() {
  std::vector<Operator> operators;
  for (const std::int64_t size : {8, 96, 512, 2048, 8192}) {
    operators.push_back(gemm(size, 512, 512));
    operators.push_back(gemm(4096, size, 64, 4));
    operators.push_back(gemm(64, 64, size, 96));
  }
  for (const std::int64_t batch : {1, 8, 64}) {
    operators.push_back(convolution(batch, 64, 64, 56, 3, 1));
    operators.push_back(convolution(batch, 256, 512, 28, 1, 2));
    operators.push_back(convolution(batch, 16, 512, 14, 3, 1));
    operators.push_back(attention(batch, 128));
    operators.push_back(attention(batch, 1024));
    operators.push_back(lstm(batch, 256, 256, 2));
  }
  for (const double elements : {1e3, 1e6, 1e8}) {
    for (const OperatorKind kind : {OperatorKind::elementwise, OperatorKind::normalization, OperatorKind::loss}) {
      operators.push_back(pass(kind, elements));
    }
  }
  return operators;
}

double seconds(const OperatorClock& clock, const Operator& op, Direction direction) {
  return clock.time(op, direction).duration.time.value;
}

TEST_CASE("an operator that runs forward only takes no time on the way back") {
  const Catalogue catalogue{DataStore()};
  const Device& device = catalogue.device("A100-SXM4-80GB");
  ParameterTable parameters;
  const OperatorClock clock(device, Precision::fp16, KernelChoices{2, 0}, parameters);
  for (Operator op : many_operators()) {
    INFO(models::to_string(op.kind));
    const double forward = seconds(clock, op, Direction::forward);
    op.forward_only = true;
    op.sequential_steps = 100;
    const OperatorTime back = clock.time(op, Direction::backward);
    CHECK(back.duration.time.value == 0);
    CHECK(back.duration.parameter.index < parameters.size());
    CHECK_THAT(back.formula, Contains("forward only"));
    op.sequential_steps = 0;
    CHECK(seconds(clock, op, Direction::forward) == forward);
  }
}

TEST_CASE("no operator beats the roofline, on any device, in any precision") {
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.device_names()) {
    const Device& device = catalogue.device(name);
    for (const auto& [precision, peak] : device.peak) {
      for (const bool fused : {false, true}) {
        ParameterTable parameters;
        const OperatorClock clock(device, precision, KernelChoices{fused ? 2 : 0, 0}, parameters);
        for (const Operator& op : many_operators()) {
          INFO(name << " " << models::to_string(precision) << " " << models::to_string(op.kind));
          // Winograd's F(4×4, 3×3) needs a quarter of the multiplications of a 3×3 convolution.
          const bool winograd = op.kind == OperatorKind::convolution && precision == Precision::fp32;
          const double work = winograd ? 0.25 : 1.0;
          const double bytes = models::activation_bytes(precision) / device.memory_bandwidth.value;
          const double forward = seconds(clock, op, Direction::forward);
          CHECK(forward >= work * models::forward_flops(op).value / peak.value);
          CHECK(forward >= models::forward_elements(op) * bytes);
          const double backward = seconds(clock, op, Direction::backward);
          CHECK(backward >= work * models::backward_flops(op).value / peak.value);
          CHECK(backward >= models::forward_elements(op) * bytes);
        }
      }
    }
  }
}

TEST_CASE("a bigger problem never takes less time") {
  const Catalogue catalogue{DataStore()};
  for (const std::string& name : catalogue.device_names()) {
    ParameterTable parameters;
    const Device& device = catalogue.device(name);
    const Precision precision = device.peak.count(Precision::fp16) > 0 ? Precision::fp16 : Precision::fp32;
    const OperatorClock clock(device, precision, KernelChoices{2, 0}, parameters);
    const auto rises = [&](auto make) {
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        double before = 0;
        for (std::int64_t size = 8; size <= 8192; size = (size * 5 / 4 + 7) / 8 * 8) {
          const double now = seconds(clock, make(size), direction);
          INFO(name << " at " << size);
          CHECK(now >= before * (1 - 1e-12));
          before = now;
        }
      }
    };
    rises([](std::int64_t size) { return gemm(size, 768, 768); });
    rises([](std::int64_t size) { return gemm(1024, size, 768); });
    rises([](std::int64_t size) { return gemm(1024, 768, size); });
    rises([](std::int64_t size) { return convolution(size, 64, 64, 28, 3, 1); });
    rises([](std::int64_t size) { return convolution(8, size, 64, 28, 3, 2); });
    rises([](std::int64_t size) { return attention(4, size); });
    rises([](std::int64_t size) { return lstm(64, size, 256, 2); });
    rises([](std::int64_t size) { return lstm(64, 32, size, 1); });
    rises([](std::int64_t size) { return pass(OperatorKind::normalization, 1e4 * static_cast<double>(size)); });
  }
}

TEST_CASE("a large product runs near the measured efficiency") {
  // 8192³ in fp16 on an A100: 2·8192³ = 1.1e12 FLOPs, measured 253.7 TFLOP/s (Azure AI benchmarking guide).
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const OperatorClock clock(catalogue.device("A100-SXM4-80GB"), Precision::bf16, KernelChoices{2, 0}, parameters);
  const OperatorTime time = clock.time(gemm(8192, 8192, 8192), Direction::forward);
  CHECK(2 * std::pow(8192.0, 3) / time.duration.time.value == Approx(253.7e12).epsilon(0.1));
  CHECK(parameters.at(time.duration.parameter).name == "GEMM efficiency of A100 in bf16");
  CHECK(time.provenance == Provenance::fitted);
  CHECK_FALSE(time.extrapolated);
}

TEST_CASE("backward of a product is a product for each gradient") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const OperatorClock clock(catalogue.device("V100-SXM2-16GB"), Precision::fp32, {}, parameters);
  Operator cube = gemm(1024, 1024, 1024);
  const double forward = seconds(clock, cube, Direction::forward);
  CHECK(seconds(clock, cube, Direction::backward) == Approx(2 * forward).epsilon(1e-12));
  cube.needs_input_gradient = false;
  cube.kernels_backward = 1;
  CHECK(seconds(clock, cube, Direction::backward) == Approx(forward).epsilon(1e-12));
}

Operator linear(std::int64_t m, std::int64_t n, std::int64_t k) {
  Operator op = gemm(m, n, k);
  op.parameters = {{"weight", {k, n}}};
  return op;
}

TEST_CASE("the two gradients of an operator take as long as backward, on any device, in any precision") {
  const Catalogue catalogue{DataStore()};
  std::vector<Operator> operators = many_operators();
  operators.push_back(linear(2048, 512, 512));
  operators.push_back(linear(8, 8, 8));
  Operator biased = linear(2048, 512, 512);
  biased.kernels_backward = 3;
  operators.push_back(biased);
  Operator first = biased;
  first.needs_input_gradient = false;
  operators.push_back(first);
  Operator stepped = biased;
  stepped.sequential_steps = 1000;
  operators.push_back(stepped);
  for (const std::string& name : catalogue.device_names()) {
    const Device& device = catalogue.device(name);
    for (const auto& [precision, peak] : device.peak) {
      ParameterTable parameters;
      const OperatorClock clock(device, precision, KernelChoices{2, 0}, parameters);
      for (const Operator& op : operators) {
        INFO(name << " " << models::to_string(precision) << " " << models::to_string(op.kind));
        const double backward = seconds(clock, op, Direction::backward);
        CHECK(seconds(clock, op, Direction::input_gradient) + seconds(clock, op, Direction::weight_gradient) ==
              Approx(backward).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("which of the gradients an operator's backward pass is") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("A100-SXM4-80GB");
  const OperatorClock clock(device, Precision::fp16, KernelChoices{2, 0}, parameters);
  // Of a cube both are products of the same size; the sum of the bias' gradients goes with the weights'.
  Operator cube = linear(1024, 1024, 1024);
  const double product = seconds(clock, cube, Direction::forward);
  cube.kernels_backward = 3;
  CHECK(seconds(clock, cube, Direction::input_gradient) == Approx(product).epsilon(1e-12));
  CHECK(seconds(clock, cube, Direction::weight_gradient) ==
        Approx(product + device.kernel_floor.value).epsilon(1e-12));
  cube.needs_input_gradient = false;
  CHECK(seconds(clock, cube, Direction::input_gradient) == 0);
  const auto is_input_gradient = [&](const Operator& op) {
    return seconds(clock, op, Direction::weight_gradient) == 0 &&
           seconds(clock, op, Direction::input_gradient) == seconds(clock, op, Direction::backward);
  };
  CHECK_FALSE(is_input_gradient(convolution(8, 64, 64, 28, 3, 1)));
  CHECK(is_input_gradient(attention(4, 1024)));
  CHECK(is_input_gradient(lstm(64, 256, 256, 2)));
  CHECK(is_input_gradient(pass(OperatorKind::normalization, 1e6)));
  CHECK(is_input_gradient(gemm(512, 512, 64, 16)));  // of two activations: no weights
  Operator frozen = linear(512, 512, 512);
  frozen.forward_only = true;
  CHECK(seconds(clock, frozen, Direction::input_gradient) == 0);
  CHECK(seconds(clock, frozen, Direction::weight_gradient) == 0);
}

TEST_CASE("products with weights run in fp8, everything else in bf16") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("H100-SXM5-80GB");
  const KernelChoices choices{2, 0};
  const OperatorClock fp8(device, Precision::fp8, choices, parameters), bf16(device, Precision::bf16, choices, parameters);
  const auto speedup = [&](const Operator& op) {
    return seconds(bf16, op, Direction::forward) / seconds(fp8, op, Direction::forward);
  };
  // 8192³: 1290 TFLOP/s in fp8 after 10,000 products of random numbers (Azure AI benchmarking guide).
  const OperatorTime large = fp8.time(linear(8192, 8192, 8192), Direction::forward);
  CHECK(2 * std::pow(8192.0, 3) / large.duration.time.value == Approx(1290e12).epsilon(0.05));
  CHECK(parameters.at(large.duration.parameter).name == "GEMM efficiency of H100 in fp8");
  CHECK(large.provenance == Provenance::assumed);
  CHECK(speedup(linear(8192, 8192, 8192)) > 1.5);
  CHECK(speedup(linear(8192, 8192, 8192)) < 2.2);
  CHECK(speedup(linear(8, 4096, 4096)) < 1.1);  // reads its weights, of two bytes as they are kept
  Operator logits = linear(8192, 51200, 8192);
  logits.tensor_split = models::TensorSplit::vocabulary;
  for (const Operator& op : {logits, gemm(512, 512, 64, 16), convolution(64, 256, 256, 28, 3, 1), attention(16, 2048),
                             lstm(64, 256, 256, 2), pass(OperatorKind::elementwise, 1e8)}) {
    INFO(models::to_string(op.kind));
    CHECK(speedup(op) == 1);
  }
}

TEST_CASE("fp8 is what Hopper and Blackwell have") {
  const Catalogue catalogue{DataStore()};
  const auto twice_fp16 = [&](const char* name) {
    const auto& peak = catalogue.device(name).peak;
    return peak.at(Precision::fp8) / peak.at(Precision::fp16);
  };
  for (const char* name :
       {"H100-SXM5-80GB", "H100-PCIE-80GB", "H100-NVL-94GB", "H200-SXM-141GB", "H800-SXM5-80GB", "GH200-96GB",
        "H20-96GB", "B200-SXM-180GB", "B300-SXM-288GB", "GB200-186GB", "GB300-288GB"}) {
    INFO(name);
    CHECK(twice_fp16(name) == Approx(2).epsilon(0.002));
    CHECK(catalogue.device(name).products.at(Precision::fp8).evidence.relative_spread >= 0.1);
  }
  CHECK(catalogue.device("A100-SXM4-80GB").peak.count(Precision::fp8) == 0);
}

TEST_CASE("odd feature dimensions cost tensor cores") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const OperatorClock clock(catalogue.device("A100-SXM4-80GB"), Precision::fp16, KernelChoices{2, 0}, parameters);
  const double aligned = seconds(clock, gemm(8192, 50304, 768), Direction::forward);
  CHECK(seconds(clock, gemm(8192, 50257, 768), Direction::forward) > 1.5 * aligned);
  CHECK(seconds(clock, gemm(8191, 50304, 768), Direction::forward) <= aligned);  // rows of the batch may be odd
}

TEST_CASE("which number a time rests on") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("A100-SXM4-80GB");
  const OperatorClock clock(device, Precision::fp16, KernelChoices{2, 0}, parameters);
  const auto rests_on = [&](const Operator& op) {
    return parameters.at(clock.time(op, Direction::forward).duration.parameter).name;
  };
  CHECK(rests_on(gemm(4096, 4096, 4096)) == "GEMM efficiency of A100 in fp16");
  CHECK(rests_on(gemm(8, 4096, 16384)) == "memory bandwidth of A100");  // reads 134 MB of weights
  CHECK(rests_on(gemm(8, 8, 8)) == "kernel floor of A100");
  CHECK(rests_on(convolution(64, 256, 256, 28, 3, 1)) == "convolution efficiency of A100 in fp16");
  CHECK(rests_on(lstm(64, 256, 256, 2)) == "recurrent step of A100");
  CHECK(rests_on(attention(16, 2048)) == "attention efficiency of A100 in fp16");
  CHECK(rests_on(pass(OperatorKind::elementwise, 1e8)) == "memory bandwidth of A100");
  CHECK(rests_on(pass(OperatorKind::elementwise, 1e3)) == "kernel floor of A100");
  CHECK(parameters.size() == 6);
}

TEST_CASE("passes over memory") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("A100-SXM4-80GB");
  const OperatorClock clock(device, Precision::fp16, KernelChoices{2, 0}, parameters);
  // 1 GB at the curve's last share.
  const double share = device.memory_curve.share.back();
  CHECK(clock.memory_pass(Bytes(1e9)).duration.time.value ==
        Approx(1e9 / (device.memory_bandwidth.value * share)).epsilon(1e-9));
  const double elementwise = seconds(clock, pass(OperatorKind::elementwise, 5e8), Direction::forward);
  CHECK(elementwise == Approx(1e9 / (device.memory_bandwidth.value * share)).epsilon(1e-9));
  // Autocast runs losses in fp32: twice the bytes, at the kind's share.
  CHECK(seconds(clock, pass(OperatorKind::loss, 5e8), Direction::forward) ==
        Approx(2 * elementwise / device.memory_kind_share.at("loss")).epsilon(1e-9));
  // Ten unfused kernels of next to nothing cost ten shortest kernels.
  CHECK(seconds(clock, pass(OperatorKind::elementwise, 10, 10), Direction::forward) ==
        Approx(10 * device.kernel_floor.value).epsilon(1e-9));
}

TEST_CASE("a recurrent layer is bound by its steps") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("A100-SXM4-80GB");
  const OperatorClock clock(device, Precision::fp16, KernelChoices{2, 0}, parameters);
  const double one = seconds(clock, lstm(64, 256, 256, 1), Direction::forward);
  CHECK(one >= 256 * device.recurrent.forward_step.value);
  CHECK(seconds(clock, lstm(64, 256, 256, 2), Direction::forward) == Approx(2 * one).epsilon(1e-12));
}

TEST_CASE("dependent steps inside a kernel bound it from below") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& device = catalogue.device("T4");
  const OperatorClock clock(device, Precision::fp32, {}, parameters);
  Operator ctc = pass(OperatorKind::loss, 1e4);
  ctc.sequential_steps = 256;
  CHECK(seconds(clock, ctc, Direction::forward) == Approx(256 * device.dependent_step.value).epsilon(1e-12));
}

TEST_CASE("a fused attention kernel spares the passes over the scores") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& a100 = catalogue.device("A100-SXM4-80GB");
  const OperatorClock fused(a100, Precision::fp16, KernelChoices{2, 0}, parameters);
  const OperatorClock unfused(a100, Precision::fp16, {}, parameters);
  const Operator core = attention(16, 2048);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    CHECK(seconds(fused, core, direction) < 0.6 * seconds(unfused, core, direction));
  }
  // The V100 has no measured fused kernel: asking for one changes nothing.
  const Device& v100 = catalogue.device("V100-SXM2-16GB");
  CHECK(seconds(OperatorClock(v100, Precision::fp16, KernelChoices{2, 0}, parameters), core, Direction::forward) ==
        seconds(OperatorClock(v100, Precision::fp16, {}, parameters), core, Direction::forward));
}

TEST_CASE("fused attention takes the stack's generation of kernels, or the device's nearest before it") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Operator core = attention(16, 2048);
  const auto forward = [&](const char* device, int generation) {
    return seconds(OperatorClock(catalogue.device(device), Precision::bf16, KernelChoices{generation, 0}, parameters),
                   core, Direction::forward);
  };
  CHECK(forward("H100-SXM5-80GB", 1) > 1.4 * forward("H100-SXM5-80GB", 2));
  CHECK(forward("H100-SXM5-80GB", 2) > 1.3 * forward("H100-SXM5-80GB", 3));
  CHECK(forward("A100-SXM4-80GB", 3) == forward("A100-SXM4-80GB", 2));  // nothing is written for it alone
  CHECK(forward("B200-SXM-180GB", 1) == forward("B200-SXM-180GB", 2));  // nothing older is measured
}

TEST_CASE("causal attention of long rows takes half the time, of short ones more") {
  const Catalogue catalogue{DataStore()};
  const Device& h100 = catalogue.device("H100-SXM5-80GB");
  const AttentionPass& pass = attention_profile(h100, 2)->forward;
  const auto masked_share = [&](std::int64_t length) {
    AttentionShape shape;
    shape.batch = 16384 / length;
    shape.heads = 16;
    shape.query_length = shape.key_length = length;
    shape.head_dimension = 128;
    const FlopsPerSecond peak = h100.peak.at(Precision::bf16);
    const Seconds whole = attention_time(pass, shape, true, peak, h100.multiprocessors);
    shape.causal = true;
    return attention_time(pass, shape, true, peak, h100.multiprocessors) / whole;
  };
  CHECK(masked_share(16384) == Approx(0.5 * (1 + pass.diagonal / 16384)));
  CHECK(masked_share(512) > 0.8);
}

TEST_CASE("products that add to fp32 gradients take longer, those that add to bf16 ones do not") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& a100 = catalogue.device("A100-SXM4-80GB");
  Operator op = gemm(4096, 4096, 4096);
  op.parameters.push_back({"weight", {4096, 4096}});
  const auto backward = [&](double bytes) {
    return seconds(OperatorClock(a100, Precision::bf16, KernelChoices{2, bytes}, parameters), op, Direction::backward);
  };
  CHECK(backward(2) == backward(0));
  // 2.5 bytes of 4096² weights at 0.8 of 2039 GB/s.
  CHECK(backward(4) - backward(0) == Approx(2.5 * 4096 * 4096 / (0.8 * 2039e9)));
}

TEST_CASE("the gradient of a bias reads that of the output") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const OperatorClock clock(catalogue.device("A100-SXM4-80GB"), Precision::bf16, {}, parameters);
  Operator op = gemm(8192, 4096, 4096);
  op.parameters.push_back({"weight", {4096, 4096}});
  const double without = seconds(clock, op, Direction::backward);
  op.parameters.push_back({"bias", {4096}});
  op.kernels_backward = 3;
  const double with = seconds(clock, op, Direction::backward);
  CHECK(with - without == Approx(clock.memory_pass(Bytes(2 * 8192.0 * 4096)).duration.time.value));
}

TEST_CASE("eight-bit products cast the inputs they keep and the gradients of their outputs") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  const Device& h100 = catalogue.device("H100-SXM5-80GB");
  const OperatorClock clock(h100, Precision::fp8, {}, parameters);
  Operator op = gemm(8192, 4096, 4096);
  op.parameters.push_back({"weight", {4096, 4096}});
  const double without = seconds(clock, op, Direction::forward);
  op.saved_elements = 8192.0 * 4096;
  const double with = seconds(clock, op, Direction::forward);
  CHECK(with - without == Approx(clock.memory_pass(Bytes(4 * 8192.0 * 4096)).duration.time.value));
  const double apart = seconds(clock, op, Direction::input_gradient) + seconds(clock, op, Direction::weight_gradient);
  CHECK(seconds(clock, op, Direction::backward) == Approx(apart));
}

TEST_CASE("a precision the device lacks is an error that lists what it has") {
  const Catalogue catalogue{DataStore()};
  ParameterTable parameters;
  try {
    const OperatorClock clock(catalogue.device("V100-SXM2-16GB"), Precision::bf16, {}, parameters);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("V100-SXM2-16GB does not support bf16"));
    CHECK_THAT(error.hint(), Contains("fp32") && Contains("fp16"));
  }
}

}  // namespace
}  // namespace foretrain::calibrate
