// Speech recognition and translation by LSTMs: parameters and FLOPs.
#include <vector>

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

TEST_CASE("Jasper 10x5 with dense residuals has 333 million parameters") {
  // Li et al. 2019, table 3. By hand: a convolution in·out·k and a norm 2·out; block i adds the inputs of all
  // blocks up to it, each by a 1×1 convolution and a norm.
  const std::vector<double> channels = {256, 256, 384, 384, 512, 512, 640, 640, 768, 768};
  const std::vector<double> kernels = {11, 11, 13, 13, 17, 17, 21, 21, 25, 25};
  const auto convolution = [](double in, double out, double kernel) { return in * out * kernel + 2 * out; };
  double sum = convolution(64, 256, 11), in = 256;
  std::vector<double> inputs;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const double out = channels[i];
    inputs.push_back(in);
    sum += convolution(in, out, kernels[i]) + 4 * convolution(out, out, kernels[i]);
    for (const double width : inputs) sum += convolution(width, out, 1);
    in = out;
  }
  sum += convolution(768, 896, 29) + convolution(896, 1024, 1) + 1024 * 29 + 29;
  const Model model = zoo_model("jasper-10x5");
  CHECK(parameter_count(model) == sum);
  CHECK(sum == Approx(333e6).epsilon(0.002));
  // 1670 frames become 835 steps; every weight of a convolution is used once per step.
  const double norms = parameter_count(model) - (forward(model) / (2 * 835));
  CHECK(norms > 0);
  CHECK(norms < 0.001 * sum);
}

TEST_CASE("QuartzNet 15x5 has 18.9 million parameters") {  // Kriman et al. 2019, table 1
  CHECK(parameter_count(zoo_model("quartznet-15x5")) == Approx(18.9e6).epsilon(0.002));
  const Model model = zoo_model("quartznet-15x5");
  CHECK(std::get<ConvolutionShape>(find_operator(model, "encoder.15.4.depthwise").shape).groups == 512);
  CHECK(find_operator(model, "ctc_loss").sequential_steps == 835);
}

TEST_CASE("GNMT by hand") {
  // One table of 32,320·1024 for both sides. An LSTM 4·h·(input + h) + 8·h: the encoder's first twice, its second
  // over 2·h, two over h; the decoder's first over h, three over 2·h. Attention 2·h² and the vector,
  // a bias and one scale. Classifier h·V + V.
  const double h = 1024, V = 32'320;
  const auto lstm = [h](double input) { return 4 * h * (input + h) + 8 * h; };
  const double attention = 2 * h * h + 2 * h + 1;
  const double recurrent = 2 * lstm(h) + lstm(2 * h) + 2 * lstm(h) + lstm(h) + 3 * lstm(2 * h);
  CHECK(parameter_count(zoo_model("gnmt")) == V * h + recurrent + attention + h * V + V);

  // s = 32 tokens: each weight of the LSTMs (without the biases), of attention and classifier once per token;
  // s² scores of h products and s² weights of h in the mean.
  const double s = 32, biases = 9 * 8 * h;
  const double products = s * (recurrent - biases + 2 * h * h + h * V) + 2 * s * s * h;
  CHECK(forward(zoo_model("gnmt")) == Approx(2 * products).epsilon(1e-12));
  CHECK(std::get<RecurrentShape>(find_operator(zoo_model("gnmt", 1, 50), "encoder.rnn_layers.3.l0").shape).steps == 50);
}

TEST_CASE("Tacotron 2 has 28.2 million parameters and decodes frame by frame") {
  // NVIDIA's README: 28.2 million. By hand: table 148·512; three convolutions 5·512² + 512 and norms 1024; LSTM of
  // two directions 2·(4·256·(512 + 256) + 2·4·256); prenet 80·256 + 256²; cells 4·h·(input + h) + 8·h; attention
  // 1024·128 + 512·128 + 128 + 2·31·32 + 32·128; projection and gate 1536·81 + 81; postnet.
  const auto cell = [](double input) { return 4. * 1024 * (input + 1024) + 8. * 1024; };
  const double encoder = 148. * 512 + 3 * (5. * 512 * 512 + 512 + 1024) + 2 * (4. * 256 * 768 + 8. * 256);
  const double attention = 1024. * 128 + 512. * 128 + 128 + 2. * 31 * 32 + 32. * 128;
  const double decoder = 80. * 256 + 256. * 256 + cell(256 + 512) + attention + cell(1024 + 512) + 1536. * 81 + 81;
  const double postnet = 2 * 5. * 80 * 512 + 3 * 5. * 512 * 512 + 4 * (512 + 1024) + 80 + 160;
  const Model model = zoo_model("tacotron2", 48);
  CHECK(parameter_count(model) == encoder + decoder + postnet);
  CHECK(parameter_count(model) == Approx(28.2e6).epsilon(0.001));
  const Operator& projection = find_operator(model, "decoder.linear_projection");
  CHECK(projection.sequential_steps == 566);
  CHECK(projection.kernels_forward == 566);
  CHECK(std::get<GemmShape>(projection.shape).batch == 566);
  CHECK(std::get<GemmShape>(projection.shape).m == 48);
}

TEST_CASE("RNN-T has 49 million parameters") {
  // An LSTM 4·h·(input + h) + 8·h. Encoder of 1024 over 240 features, over two stacked steps behind the second layer;
  // prediction of 512 over a table without the blank; joint of 512 over 1024 symbols.
  const auto lstm = [](double input, double h) { return 4 * h * (input + h) + 8 * h; };
  const double encoder = lstm(240, 1024) + lstm(1024, 1024) + lstm(2048, 1024) + 2 * lstm(1024, 1024);
  const double prediction = 1023. * 512 + 2 * lstm(512, 512);
  const double joint = 1024. * 512 + 512 + 512. * 512 + 512 + 512. * 1024 + 1024;
  const Model model = zoo_model("rnn-t", 2);
  CHECK(parameter_count(model) == encoder + prediction + joint);
  CHECK(parameter_count(model) == Approx(49e6).epsilon(0.001));
  // 410 steps before the stacking, 205 behind it, each with 43 predictions: 8,815 pairs.
  CHECK(std::get<RecurrentShape>(find_operator(model, "encoder.pre_rnn.l1").shape).steps == 410);
  CHECK(std::get<RecurrentShape>(find_operator(model, "encoder.post_rnn.l0").shape).steps == 205);
  CHECK(forward_flops(find_operator(model, "joint_net")).value == 2. * 2 * 8815 * 512 * 1024);
  CHECK(find_operator(model, "transducer_loss").sequential_steps == 205 + 43);
}

TEST_CASE("FastPitch has 46 million parameters, of which version 1.0 has 45") {
  // A layer of a transformer 384 wide: 384·192 + 192 for one head of 64, 64·384 back, convolutions 3·384·1536 with
  // biases, two norms. A predictor: 3·384·256 + 256, 3·256² + 256, two norms, 256 + 1.
  const double layer = 384. * 192 + 192 + 64 * 384 + 2 * 3. * 384 * 1536 + 1536 + 384 + 2 * 768;
  const double predictor = 3. * 384 * 256 + 256 + 3. * 256 * 256 + 256 + 2 * 512 + 257, embedding = 3. * 384 + 384;
  const double first = 148. * 384 + 12 * layer + 2 * predictor + embedding + 384. * 80 + 80;
  const Model model = zoo_model("fastpitch");
  const double aligner = 3. * 384 * 768 + 768 + 768. * 80 + 80 + 3. * 80 * 160 + 160 + 160. * 80 + 80 + 80. * 80 + 80;
  CHECK(parameter_count(zoo_model("fastpitch", 1, 0, {{"energy", 0}, {"aligner", 0}})) == first);
  CHECK(first == Approx(44.8e6).epsilon(0.001));
  CHECK(parameter_count(model) == first + predictor + embedding + aligner);

  // Products of version 1.0: each weight of a layer once per symbol (100) or frame (566), the biases (192 + 1536 + 384)
  // and norms not; scores twice; predictors on the symbols; the repetition 100·566·384; the last layer on the frames.
  const double weights = layer - 192 - 1536 - 384 - 2 * 768;
  const double products = 6 * (100 + 566) * weights + 6 * 2 * 64. * (100. * 100 + 566. * 566) +
                          100 * (2 * (3. * 384 * 256 + 3. * 256 * 256 + 256) + 3. * 384) + 100. * 566 * 384 +
                          566. * 384 * 80;
  CHECK(forward(zoo_model("fastpitch", 1, 0, {{"energy", 0}, {"aligner", 0}})) == Approx(2 * products).epsilon(1e-12));
}

TEST_CASE("WaveGlow by hand") {
  // Of a flow over 2·half channels: the invertible convolution, 1×1 to 512, eight layers (kernel 3 to 1024, the
  // condition 640 to 1024, 1×1 to 1024, in the last to 512), 1×1 to 2·half. Weight norm adds a length per output
  // channel to all but the first and the last; the first has no bias. Halves: 4, 3 and 2, four flows each.
  const double upsample = 80. * 80 * 1024, layers = 8 * (3. * 512 * 1024 + 640. * 1024) + 7 * 512. * 1024 + 512. * 512;
  double weights = 0, vectors = 0;
  for (const double half : {4., 3., 2.}) {
    weights += 4 * (4 * half * half + half * 512 + layers + 512 * 2 * half);
    vectors += 4 * (2 * (512 + 8 * 1024. + 8 * 1024 + 7 * 1024 + 512) + 2 * half);
  }
  const Model model = zoo_model("waveglow");
  CHECK(parameter_count(model) == upsample + 80 + weights + vectors);
  // NVIDIA's training default, 512 channels, has 268 million parameters; checkpoints of 256 channels have 88 million.
  CHECK(parameter_count(model) == Approx(268e6).epsilon(0.002));
  CHECK(parameter_count(zoo_model("waveglow", 1, 0, {{"width", 256}})) == Approx(88e6).epsilon(0.002));
  // 8000 sound samples are 32 frames (rounded up) and 1000 vectors of 8.
  CHECK(forward(model) == Approx(2 * (32 * upsample + 1000 * weights)).epsilon(1e-12));
}
