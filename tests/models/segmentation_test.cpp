// U-Nets in two and three dimensions: parameters and FLOPs.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

double forward(const Model& model) { return forward_flops(model).value; }

}  // namespace

TEST_CASE("U-Net Industrial by hand") {
  // Convolutions 9·in·out + out (a block of two), 2×2 ones 4·in·out + out. `flops` counts multiply-adds, with
  // 512² places, 256², 128², 64² and 32² at the bottleneck; a 2×2 convolution works on the doubled extent.
  double parameters = 0, products = 0;
  const auto convolution = [&](double kernel, double in, double out, double extent) {
    parameters += kernel * in * out + out;
    products += kernel * in * out * extent * extent;
  };
  convolution(9, 1, 32, 512);
  convolution(9, 32, 32, 512);
  convolution(9, 32, 32, 256);
  convolution(9, 32, 32, 256);
  convolution(9, 32, 64, 128);
  convolution(9, 64, 64, 128);
  convolution(9, 64, 128, 64);
  convolution(9, 128, 128, 64);
  convolution(9, 128, 256, 32);
  convolution(9, 256, 256, 32);
  convolution(4, 256, 128, 64);
  convolution(9, 128 + 128, 128, 64);
  convolution(9, 128, 64, 64);
  convolution(4, 64, 64, 128);
  convolution(9, 64 + 64, 64, 128);
  convolution(9, 64, 32, 128);
  convolution(4, 32, 32, 256);
  convolution(9, 32 + 32, 32, 256);
  convolution(9, 32, 16, 256);
  convolution(4, 16, 16, 512);
  convolution(9, 16 + 32, 32, 512);
  convolution(9, 32, 32, 512);
  convolution(1, 32, 1, 512);
  const Model model = zoo_model("unet-industrial");
  CHECK(parameters == 1'850'305);
  CHECK(parameter_count(model) == parameters);
  CHECK(forward(model) == Approx(2 * products).epsilon(1e-12));
}

TEST_CASE("3D U-Net by hand: 31 million parameters, a teraflop per patch and direction") {
  // A 3×3×3 convolution 27·in·out and a norm 2·out; 2×2×2 ones 8·in·out + out; cubes of 128, 64, 32, 16, 8, 4.
  double parameters = 0, products = 0;
  const auto block = [&](double in, double out, double extent) {
    parameters += 27 * in * out + 27 * out * out + 4 * out;
    products += 27 * (in * out + out * out) * extent * extent * extent;
  };
  const double channels[] = {32, 64, 128, 256, 320};
  block(1, 32, 128);
  for (int i = 1; i < 5; ++i) block(channels[i - 1], channels[i], 128 >> i);
  block(320, 320, 4);
  double in = 320;
  for (int i = 4; i >= 0; --i) {
    const double extent = 128 >> i;
    parameters += 8 * in * channels[i] + channels[i];
    products += in * channels[i] * extent * extent * extent;  // of its 8 places each weight meets one
    block(2 * channels[i], channels[i], extent);
    in = channels[i];
  }
  parameters += 32 * 3 + 3;
  products += 32. * 3 * 128 * 128 * 128;
  const Model model = zoo_model("unet-3d");
  CHECK(parameter_count(model) == parameters);
  CHECK(parameter_count(model) == Approx(31e6).epsilon(0.01));
  CHECK(forward(model) == Approx(2 * products).epsilon(1e-12));
}

TEST_CASE("a convolution over volumes moves what its tensors hold") {
  // downsample.0.conv1 on two patches: 32 channels of 128³ in, 64 of 64³ out, 27·32·64 weights, stride 2 each way.
  const Model two = zoo_model("unet-3d", 2), one = zoo_model("unet-3d");
  const Operator& op = find_operator(two, "downsample.0.conv1.0");
  const double in = 2. * 32 * 128 * 128 * 128, out = 2. * 64 * 64 * 64 * 64, weights = 27. * 32 * 64;
  CHECK(forward_elements(op) == in + out + weights);
  CHECK(forward_flops(op).value == 2 * out * 27 * 32);
  CHECK(op.parameters.front().shape == std::vector<std::int64_t>{64, 32, 3, 3, 3});
  CHECK(op.output_elements == out);
  CHECK(op.saved_elements == 0);  // the leaky ReLU before kept it
  // The transposed one back to 128³ from 64 to 32 channels.
  const Operator& wide = find_operator(one, "upsample.4.upsample_conv");
  CHECK(wide.output_elements == 32. * 128 * 128 * 128);
  CHECK(forward_flops(wide).value == 2. * 64 * 32 * 128 * 128 * 128);
}
