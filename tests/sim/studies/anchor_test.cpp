#include "sim/studies/anchor.h"

#include "base/error.h"
#include "sim/studies/predict.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

Scenario handwriting(const std::string& machine, std::int64_t gpus) {
  Scenario result = scenario("crnn-handwriting", machine, gpus, 64, Precision::fp16);
  result.measured = {{"Standard_NC24ads_A100_v4", 1, 64, 0.31}};
  return result;
}

TEST_CASE("the measured run is predicted as measured") {
  const Prediction prediction = predict(handwriting("Standard_NC24ads_A100_v4", 1), catalogue());
  CHECK(prediction.step_time.value == Approx(0.31).epsilon(1e-6));
  CHECK(prediction.step_time.provenance.find("measured step") != std::string::npos);
  // Its interval is the repeatability of a step, no calibration error.
  CHECK(prediction.step_time.high / prediction.step_time.low < 1.03);
}

TEST_CASE("a measured step of several GPUs holds its communication") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 16, 64, Precision::fp16);
  asked.measured = {{"p3.16xlarge", 16, 64, 0.4}};
  CHECK(predict(asked, catalogue()).step_time.value == Approx(0.4).epsilon(1e-6));
}

TEST_CASE("the same kind of GPU in another machine rests on the measurement") {
  const Prediction four = predict(handwriting("Standard_NC96ads_A100_v4", 4), catalogue());
  bool measured = false;
  for (const ParameterShare& part : four.parameters) measured |= part.parameter.name.find("measured step") == 0;
  CHECK(measured);
  CHECK(four.step_time.value > 0.31);
  CHECK(four.step_time.value < 0.34);
}

TEST_CASE("another kind of GPU takes the factor over, and is less sure") {
  const Prediction same = predict(handwriting("Standard_NC96ads_A100_v4", 4), catalogue());
  const Prediction other = predict(handwriting("Standard_NC40ads_H100_v5", 1), catalogue());
  Scenario unanchored = handwriting("Standard_NC40ads_H100_v5", 1);
  unanchored.measured.clear();
  Scenario here = handwriting("Standard_NC24ads_A100_v4", 1);
  here.measured.clear();
  // 0.31 s times the catalogue's ratio of both GPUs, both without input or communication.
  const double ratio = predict(unanchored, catalogue()).step_time.value / predict(here, catalogue()).step_time.value;
  CHECK(other.step_time.value == Approx(0.31 * ratio).epsilon(1e-6));
  CHECK(other.step_time.high / other.step_time.value > same.step_time.high / same.step_time.value);
  CHECK(other.step_time.provenance.find("carried over") != std::string::npos);
}

TEST_CASE("the nearest micro-batch is taken") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  asked.measured = {{"p3.16xlarge", 1, 16, 0.05}, {"p3.16xlarge", 1, 64, 0.1}, {"p3.16xlarge", 1, 256, 0.5}};
  CHECK(predict(asked, catalogue()).step_time.value == Approx(0.1).epsilon(1e-6));
  asked.training.micro_batch = 20;
  const Prediction between = predict(asked, catalogue());
  CHECK(between.step_time.value > 0.05);  // carried from 16, whose step is 0.05
  CHECK(between.step_time.value < 0.1);
}

TEST_CASE("accumulation is part of a measured step") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  asked.training.global_batch = 256;  // four micro-batches
  asked.measured = {{"p3.16xlarge", 1, 64, 0.5}};
  CHECK(predict(asked, catalogue()).step_time.value == Approx(0.5).epsilon(1e-6));
}

TEST_CASE("an option in another precision does not undo the measurement of the base") {
  Scenario base = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp32);
  base.measured = {{"p3.16xlarge", 1, 64, 0.3}};
  Scenario faster = base;
  faster.training.precision = Precision::fp16;
  PredictOptions options;
  options.measured_in = &base;
  CHECK(predict(faster, catalogue(), options).step_time.value < 0.2);
}

TEST_CASE("a measured step below input or communication alone is refused") {
  Scenario asked = scenario("resnet50", "p3.16xlarge", 1, 64, Precision::fp16);
  asked.input.samples_per_s_per_node = 100;  // 0.64 s
  asked.measured = {{"p3.16xlarge", 1, 64, 0.3}};
  try {
    static_cast<void>(predict(asked, catalogue()));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.where() == "/measured");
  }
}

TEST_CASE("a model of totals without FLOPs takes its work from a measured step") {
  Scenario asked = scenario("", "Standard_NC24ads_A100_v4", 1, 64, Precision::fp16);
  asked.model.kind = models::ModelSource::Kind::totals;
  asked.model.totals.parameters = 9e6;
  asked.model.totals.layers = 20;
  CHECK_THROWS_AS(predict(asked, catalogue()), Error);
  asked.measured = {{"Standard_NC24ads_A100_v4", 1, 64, 0.31}};
  CHECK(predict(asked, catalogue()).step_time.value == Approx(0.31).epsilon(1e-6));
  // The work is in the products, not in a stretched optimizer: more samples take proportionally longer.
  Scenario twice = asked;
  twice.training.micro_batch = 128;
  PredictOptions options;
  options.measured_in = &asked;
  CHECK(predict(twice, catalogue(), options).step_time.value == Approx(0.62).epsilon(0.05));
}

}  // namespace
}  // namespace foretrain::sim::studies
