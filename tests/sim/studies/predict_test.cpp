#include "sim/studies/predict.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

double part(const Prediction& prediction, const std::string& name) {
  for (const auto& [key, quantity] : prediction.breakdown) {
    if (key == name) return quantity.value;
  }
  return 0;
}

double sum_of_parts(const Prediction& prediction) {
  return std::accumulate(prediction.breakdown.begin(), prediction.breakdown.end(), 0.0,
                         [](double sum, const NamedQuantity& named) { return sum + named.second.value; });
}

bool warns(const Prediction& prediction, const std::string& text) {
  for (const std::string& warning : prediction.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("one GPU is its own reference and exchanges nothing") {
  const Prediction one = predict(scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16), catalogue());
  CHECK(one.speedup.value == 1);
  CHECK(one.speedup.low == 1);
  CHECK(one.speedup.high == 1);
  CHECK(part(one, "exposed_all_reduce") == 0);
  CHECK(one.gradients.seconds == 0);
  CHECK(one.throughput.value == Approx(64 / one.step_time.value).epsilon(1e-12));
}

TEST_CASE("the parts of a step sum to it") {
  const int gpus = GENERATE(1, 8, 32);
  const std::string model = GENERATE("resnet50", "bert-base", "crnn-handwriting");
  Scenario asked = scenario(model, "p3dn.24xlarge", gpus, 8, Precision::fp16);
  asked.input.samples_per_s_per_node = 500;
  const Prediction prediction = predict(asked, catalogue());
  CHECK(sum_of_parts(prediction) == Approx(prediction.step_time.value).epsilon(1e-9));
}

TEST_CASE("folded and expanded jobs agree") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 16, 64, Precision::fp16);
  asked.cluster.straggler_slowdown = GENERATE(1.0, 1.2);
  PredictOptions unfolded;
  unfolded.fold = false;
  CHECK(predict(asked, catalogue(), unfolded).step_time.value ==
        Approx(predict(asked, catalogue()).step_time.value).epsilon(1e-9));
}

TEST_CASE("weak scaling keeps a GPU's batch, strong scaling the global one") {
  Scenario asked = scenario("resnet50", "Standard_ND96amsr_A100_v4", 8, 32, Precision::fp16);
  const Prediction weak = predict(asked, catalogue());
  CHECK(weak.global_batch == 256);
  CHECK(weak.accumulation == 1);
  const Prediction one =
      predict(scenario("resnet50", "Standard_ND96amsr_A100_v4", 1, 32, Precision::fp16), catalogue());
  // Eight times the samples in a step that is a little longer.
  CHECK(weak.speedup.value == Approx(8 * one.step_time.value / weak.step_time.value).epsilon(1e-9));

  asked.training.scaling = Scaling::strong;
  asked.training.global_batch = 256;
  const Prediction strong = predict(asked, catalogue());
  Scenario alone = asked;
  alone.cluster.gpus = 1;
  alone.training.micro_batch = 256;  // all of the global batch at once: it fits, and nobody would train with 8 × 32
  const Prediction at_once = predict(alone, catalogue());
  CHECK(at_once.accumulation == 1);
  CHECK(strong.speedup.value == Approx(at_once.step_time.value / strong.step_time.value).epsilon(1e-9));
  CHECK(strong.efficiency.value == Approx(strong.speedup.value / 8).epsilon(1e-12));
}

TEST_CASE("one GPU alone takes the largest micro-batch that fits when the global batch is given") {
  // 4096 images on 16 GPUs: 256 each. Alone, 4096 images need more than 80 GB at once; some larger share fits.
  Scenario asked = scenario("resnet50", "Standard_ND96amsr_A100_v4", 16, 256, Precision::fp16);
  asked.training.scaling = Scaling::strong;
  asked.training.global_batch = 4096;
  const Prediction strong = predict(asked, catalogue());
  double best = 0;
  for (const std::int64_t micro_batch : {256, 512, 1024, 2048, 4096}) {
    Scenario alone = asked;
    alone.cluster.gpus = 1;
    alone.training.micro_batch = micro_batch;
    const Prediction one = predict(alone, catalogue());
    if (one.memory.fits) best = 4096 / one.step_time.value;
  }
  CHECK(best > 0);
  CHECK(strong.one_gpu_throughput.value == Approx(best).epsilon(1e-9));
}

TEST_CASE("slow input holds the step") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 8, 64, Precision::fp16);
  asked.input.samples_per_s_per_node = 1000;
  const Prediction prediction = predict(asked, catalogue());
  CHECK(prediction.step_time.value == Approx(8 * 64 / 1000.0).epsilon(1e-9));
  CHECK(prediction.bottleneck == Bottleneck::input);
  CHECK(part(prediction, "input_stall") > 0);
}

TEST_CASE("slow launches hold the step") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 1, 1, Precision::fp16);
  const Prediction prediction = predict(asked, catalogue());  // one image: 161 layers of tiny kernels
  CHECK(prediction.bottleneck == Bottleneck::launches);
  CHECK(prediction.binding.find("kernel launches") != std::string::npos);
  const Prediction busy = predict(scenario("resnet50", "p3.16xlarge", 1, 128, Precision::fp16), catalogue());
  CHECK(busy.bottleneck == Bottleneck::computation);
}

TEST_CASE("recurrent layers are named when they hold the step") {
  const Prediction prediction =
      predict(scenario("crnn-handwriting", "Standard_NC24ads_A100_v4", 1, 64, Precision::fp16), catalogue());
  CHECK(prediction.binding.find("recurrent layers") != std::string::npos);
}

TEST_CASE("cost follows price and time, and an unknown price stays unknown") {
  Scenario asked = scenario("resnet50", "Standard_NC24ads_A100_v4", 1, 64, Precision::fp16);
  asked.cluster.price_usd_per_hour = 3.6;
  asked.training.dataset_samples = 1e6;
  asked.training.epochs = 90;
  const Prediction prediction = predict(asked, catalogue());
  const double epoch = 1e6 / prediction.throughput.value;
  CHECK(prediction.epoch_time.value == Approx(epoch).epsilon(1e-12));
  CHECK(prediction.run_time.value == Approx(90 * epoch).epsilon(1e-12));
  CHECK(prediction.cost.value == Approx(epoch * 3.6 / 3600).epsilon(1e-12));
  CHECK(prediction.cost.low < prediction.cost.value);
  CHECK(prediction.energy.value > 0);
  CHECK(prediction.energy.high > prediction.energy.value);

  const Prediction unpriced = predict(scenario("resnet50", "DGX A100", 8, 64, Precision::fp16), catalogue());
  CHECK_FALSE(unpriced.cost.known);
  CHECK_FALSE(unpriced.cost_per_hour.known);
  CHECK(unpriced.cost.provenance.find("price") != std::string::npos);
  CHECK_FALSE(unpriced.epoch_time.known);
}

TEST_CASE("beyond the evidence the answer says so") {
  const Scenario large = scenario("resnet50", "Standard_ND96amsr_A100_v4", 8192, 64, Precision::fp16);
  const Prediction prediction = predict(large, catalogue());
  CHECK(prediction.extrapolating);
  CHECK(warns(prediction, "8192 GPUs are 2.0 × the largest job"));
  const Scenario small = scenario("bert-base", "Standard_ND96amsr_A100_v4", 8, 8, Precision::fp16);
  CHECK_FALSE(warns(predict(small, catalogue()), "the largest job"));
}

TEST_CASE("what does not fit is an answer with advice") {
  const Prediction prediction = predict(scenario("resnet50", "p3.16xlarge", 8, 4096, Precision::fp32), catalogue());
  CHECK_FALSE(prediction.memory.fits);
  CHECK(prediction.memory.advice.find("--set training.micro_batch=") != std::string::npos);
  CHECK(prediction.memory.total.value > prediction.memory.capacity.value);
}

TEST_CASE("explain names every operator, launch, bucket and overhead with source and provenance") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 8, 64, Precision::fp16);
  asked.input.samples_per_s_per_node = 9500;
  PredictOptions options;
  options.explain = true;
  const Prediction prediction = predict(asked, catalogue(), options);
  std::map<std::string, int> groups;
  for (const Term& term : prediction.terms) {
    ++groups[term.group];
    CHECK(!term.formula.empty());
    CHECK(!term.provenance.empty());
    CHECK(!term.source.empty());
    CHECK(term.seconds > 0);
  }
  for (const char* group : {"forward", "backward", "optimizer", "all_reduce", "launch", "input"}) {
    INFO(group);
    CHECK(groups[group] > 0);
  }
  CHECK(predict(asked, catalogue()).terms.empty());
}

TEST_CASE("the same question has the same answer") {
  const Scenario asked = scenario("bert-base", "p3.16xlarge", 16, 8, Precision::fp16);
  PredictOptions options;
  options.replays = 20;
  const Prediction a = predict(asked, catalogue(), options), b = predict(asked, catalogue(), options);
  CHECK(a.step_time.value == b.step_time.value);
  CHECK(a.step_time.low == b.step_time.low);
  CHECK(a.speedup.high == b.speedup.high);
}

TEST_CASE("unknown stack options are refused with the nearest name") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  asked.stack.options["bucket_byte"] = 1;
  try {
    static_cast<void>(predict(asked, catalogue()));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.hint().find("bucket_bytes") != std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::sim::studies
