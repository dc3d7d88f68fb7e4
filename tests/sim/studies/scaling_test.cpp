// Which jobs lose what when they are distributed: relations that every set of constants has to keep.
#include "sim/studies/predict.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

Prediction predicted(const std::string& model, const std::string& machine, std::int64_t gpus, std::int64_t batch,
                     const std::string& stack = "pytorch-ddp", const std::string& network = "") {
  Scenario asked = scenario(model, machine, gpus, batch, Precision::fp32);
  asked.training.optimizer = "sgd";
  asked.stack.name = stack;
  if (!network.empty()) {
    asked.cluster.network = network;
    asked.cluster.inter_node_gbits_per_s = 25;
  }
  return predict(asked, catalogue());
}

double efficiency(const std::string& model, std::int64_t batch, const std::string& stack = "pytorch-ddp") {
  return predicted(model, "p3.16xlarge", 16, batch, stack, "tcp").efficiency.value;
}

double part(const Prediction& prediction, const std::string& name) {
  for (const auto& [key, quantity] : prediction.breakdown) {
    if (key == name) return quantity.value / prediction.step_time.value;
  }
  return 0;
}

// Gradients: 102 MB of ResNet-50, 553 MB of VGG-16, 1.3 GB of BERT-large.
TEST_CASE("VGG-16 and BERT-large suffer over a slow network where ResNet-50 does less") {
  const double resnet = efficiency("resnet50", 128);
  CHECK(resnet > 0.7);
  CHECK(efficiency("vgg16", 64) < 0.75 * resnet);
  CHECK(efficiency("bert-large", 8) < 0.5 * resnet);
}

TEST_CASE("parameter servers over a slow network do worse than rings, the hot variable of VGG-16 worst of all") {
  const double servers = efficiency("resnet50", 128, "tensorflow-parameter-server");
  CHECK(servers < efficiency("resnet50", 128, "tensorflow-multi-worker-mirrored"));
  CHECK(efficiency("vgg16", 64, "tensorflow-parameter-server") < 0.5 * servers);
  CHECK(efficiency("vgg16", 64, "mxnet-kvstore") > efficiency("vgg16", 64, "tensorflow-parameter-server"));
}

TEST_CASE("AlexNet ends at its input, and a stall shows") {
  Scenario asked = scenario("alexnet", "p2.16xlarge", 16, 256, Precision::fp32);
  asked.input.samples_per_s_per_vcpu = 62;  // of JPEG decoding: 62 · 64 vCPUs = 3,968 images/s per node
  const Prediction sixteen = predict(asked, catalogue());
  CHECK(sixteen.bottleneck == Bottleneck::input);
  CHECK(part(sixteen, "input_stall") > 0.1);
  CHECK(sixteen.throughput.value == Approx(3968).epsilon(0.01));
}

TEST_CASE("small models on fast GPUs end at the host") {
  const Prediction small = predicted("ncf", "DGX A100", 8, 1024);
  CHECK(small.bottleneck == Bottleneck::launches);
  CHECK(small.efficiency.value < 0.8);
}

TEST_CASE("jitter averages out over the micro-batches of a step") {
  Scenario asked = scenario("bert-large", "DGX A100", 8, 4, Precision::fp16);
  const double once = part(predict(asked, catalogue()), "straggler_wait");
  asked.training.global_batch = 4 * 8 * 16;  // 16 micro-batches: a quarter of the relative jitter, beside 1 % slowdown
  const double often = part(predict(asked, catalogue()), "straggler_wait");
  CHECK(often < once);
}

}  // namespace
}  // namespace foretrain::sim::studies
