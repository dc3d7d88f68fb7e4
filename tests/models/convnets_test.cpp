// EfficientNet, face recognition and SSD: parameters and FLOPs.
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

TEST_CASE("EfficientNet squeezes to a quarter of a block's input") {
  // features.3.0 of B0: 24 channels in, 144 inside, 5×5, 40 out on 56×56 → 28×28.
  const Model model = zoo_model("efficientnet-b0");
  CHECK(find_operator(model, "features.3.0.se.fc1").parameters.front().shape ==
        std::vector<std::int64_t>{6, 144, 1, 1});
  const auto& depthwise = std::get<ConvolutionShape>(find_operator(model, "features.3.0.depthwise.0").shape);
  CHECK(depthwise.groups == 144);
  CHECK(forward_flops(find_operator(model, "features.3.0.depthwise.0")).value == 2. * 144 * 25 * 28 * 28);
}

TEST_CASE("Inception v3 without its auxiliary classifier") {
  // Auxiliary: 768·128 + 2·128, 128·768·25 + 2·768, 768·1000 + 1000 on one 5×5 and one 1×1 place.
  const Model with = zoo_model("inception-v3"), without = zoo_model("inception-v3", 1, 0, {{"auxiliary", 0}});
  CHECK(parameter_count(with) - parameter_count(without) == 98'560 + 2'459'136 + 769'000);
  CHECK(forward(with) - forward(without) == 2 * (25. * 768 * 128 + 128. * 768 * 25 + 768. * 1000));
}

TEST_CASE("InsightFace's ResNets have the published size, the classifier left out") {
  // InsightFace's tables: R50 43.59 million parameters and 6.33 G multiply-adds, R100 65.15 million and 12.12 G.
  struct Published {
    const char* name;
    double parameters, multiply_adds;
  };
  for (const Published published :
       {Published{"insightface-r50", 43.59e6, 6.33e9}, {"insightface-r100", 65.15e6, 12.12e9}}) {
    INFO(published.name);
    const double classifier = 85'742. * 512;
    const Model model = zoo_model(published.name);
    CHECK(parameter_count(model) - classifier == Approx(published.parameters).epsilon(0.001));
    CHECK(forward(model) - 2 * classifier == Approx(2 * published.multiply_adds).epsilon(0.02));
  }
}

TEST_CASE("the classifier of identities is sharded by many, and partial FC computes a part of it") {
  const Model full = zoo_model("insightface-r100-glint360k", 8);
  const Operator& product = find_operator(full, "classifier.weight_activated");
  CHECK(product.often_sharded);
  CHECK(parameter_count(product) == 360'232 * 512);
  const Model part = zoo_model("insightface-r100-glint360k", 8, 0, {{"sample_percent", 10}});
  CHECK(parameter_count(part) == parameter_count(full));
  CHECK(std::get<GemmShape>(find_operator(part, "classifier.weight_activated").shape).n == 36'024);
}

TEST_CASE("MobileFaceNet has the published size, the classifier left out") {
  // Chen et al. 2018, table 1 and section 4: 0.99 million parameters and 221 million multiply-adds.
  const double classifier = 85'742. * 128;
  const Model model = zoo_model("mobilefacenet");
  CHECK(parameter_count(model) - classifier == Approx(0.99e6).epsilon(0.015));
  CHECK(forward(model) - 2 * classifier == Approx(2 * 221e6).epsilon(0.002));
}

TEST_CASE("SSD300 on ResNet-50 by hand") {
  // ResNet-50 without its last stage (14,964,736) and its classifier (2,049,000).
  double parameters = 25'557'032. - 14'964'736 - 2'049'000;
  // Further maps: 1×1 to `inner` and 3×3 to `out`, each with a norm of two vectors.
  const std::vector<double> map = {1024, 512, 512, 256, 256, 256}, inner = {256, 256, 128, 128, 128};
  for (std::size_t i = 0; i < inner.size(); ++i) {
    parameters += map[i] * inner[i] + 2 * inner[i] + 9 * inner[i] * map[i + 1] + 2 * map[i + 1];
  }
  // Heads: per default box 4 coordinates and 81 classes.
  const std::vector<double> boxes = {4, 6, 6, 6, 4, 4}, extent = {38, 19, 10, 5, 3, 1};
  double predictions = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    parameters += boxes[i] * 85 * (9 * map[i] + 1);
    predictions += boxes[i] * extent[i] * extent[i];
  }
  const Model model = zoo_model("ssd300-resnet50");
  CHECK(parameter_count(model) == parameters);
  CHECK(predictions == 8732);  // Liu et al. 2015
  CHECK(find_operator(model, "loss.classes.log_softmax").output_elements == 8732. * 81);
  // The third stage keeps 38×38.
  CHECK(std::get<ConvolutionShape>(find_operator(model, "feature_extractor.layer3.5.conv2").shape).out_height == 38);
}
