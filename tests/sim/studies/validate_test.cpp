#include "sim/studies/validate.h"

#include <csignal>
#include <fstream>
#include <string>

#include <unistd.h>

#include "base/error.h"
#include "sim/studies/predict.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

FamilyPoint family_point(const std::string& machine, std::int64_t gpus, double step, double measured) {
  FamilyPoint point;
  point.scenario = scenario("resnet50", machine, gpus, 64, Precision::fp16);
  point.scenario.measured = {{machine, 1, 64, step}};
  point.gpus = gpus;
  point.samples = 64.0 * static_cast<double>(gpus);
  point.measured_speedup = measured;
  return point;
}

// ResNet-50 on 1, 8 and 16 V100s, one GPU's step measured.
Family weak_family(const std::string& id, double step = 0.1) {
  Family family;
  family.id = id;
  family.group = "mine";
  family.kind = "Ethernet";
  family.anchor = family_point("p3.16xlarge", 1, step, 1);
  family.points = {family_point("p3.16xlarge", 8, step, 7.5), family_point("p3.16xlarge", 16, step, 12)};
  return family;
}

// The same under strong scaling: 512 images per step on 1 GPU (8 micro-batches of 64) and on 8 (one each, of 64 or 32).
Family strong_family(std::int64_t micro_batch_of_8) {
  Family family = weak_family("S1", 0.8);
  family.points.pop_back();
  for (FamilyPoint* point : {&family.anchor, &family.points[0]}) {
    point->scenario.training.scaling = Scaling::strong;
    point->scenario.training.global_batch = 512;
    point->samples = 512;
  }
  family.points[0].scenario.training.micro_batch = micro_batch_of_8;
  return family;
}

// The worker processes of this one, as Linux lists them.
std::vector<pid_t> workers_now() {
  const std::string self = std::to_string(::getpid());
  std::ifstream children("/proc/self/task/" + self + "/children");
  std::vector<pid_t> workers;
  for (pid_t worker = 0; children >> worker;) workers.push_back(worker);
  return workers;
}

FamilyCorpus corpus_of(std::vector<Family> families) { return {std::move(families), {}}; }

TEST_CASE("a point's speedup is that of predict with the anchor's measured step") {
  const Family family = weak_family("F1");
  const std::vector<ValidatedPoint> points = predict_family(family, catalogue());
  REQUIRE(points.size() == 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double step = predict(family.points[i].scenario, catalogue()).step_time.value;
    // n · 64 images per predicted step, over 64 images per measured 0.1 s.
    CHECK(points[i].predicted == Approx(static_cast<double>(points[i].gpus) * 0.1 / step).epsilon(1e-6));
    CHECK(points[i].low < points[i].predicted);
    CHECK(points[i].predicted < points[i].high);
    CHECK(points[i].measured == family.points[i].measured_speedup);
    CHECK(points[i].group == "mine");
    CHECK(points[i].kind == "Ethernet");
    CHECK(points[i].anchor_gpus == 1);
  }
  CHECK(points[0].predicted < 8);
  CHECK(points[1].largest_loss == "exposed_all_reduce");  // 25 Gb/s between two nodes
  CHECK(points[1].largest_loss_share > 0);
  CHECK(points[1].largest_loss_share <= 1 - points[1].predicted / 16 + 1e-9);
}

TEST_CASE("an anchor of several GPUs is predicted as it was measured") {
  Family family = weak_family("F1");
  family.anchor = family.points[0];
  family.points.erase(family.points.begin());
  for (FamilyPoint* point : {&family.anchor, &family.points[0]}) {
    point->scenario.measured = {{"p3.16xlarge", 8, 64, 0.11}};
  }
  const std::vector<ValidatedPoint> points = predict_family(family, catalogue());
  const double step = predict(family.points[0].scenario, catalogue()).step_time.value;
  CHECK(points[0].predicted == Approx(2 * 0.11 / step).epsilon(1e-6));
  CHECK(points[0].anchor_gpus == 8);
}

TEST_CASE("strong scaling compares the same global batch, whatever the micro-batch") {
  for (const std::int64_t micro_batch : {64, 32}) {
    const Family family = strong_family(micro_batch);
    const double step = predict(family.points[0].scenario, catalogue()).step_time.value;
    CHECK(predict_family(family, catalogue())[0].predicted == Approx(0.8 / step).epsilon(1e-6));
  }
}

TEST_CASE("samples that no GPU trains do not count") {
  Family family = weak_family("F1");
  const double all = predict_family(family, catalogue())[0].predicted;
  family.points[0].samples /= 2;
  CHECK(predict_family(family, catalogue())[0].predicted == Approx(all / 2).epsilon(1e-12));
}

TEST_CASE("what was measured beside the anchor changes no prediction") {
  Family family = weak_family("F1");
  const std::vector<ValidatedPoint> before = predict_family(family, catalogue());
  for (FamilyPoint& point : family.points) point.measured_speedup *= 0.3;
  const std::vector<ValidatedPoint> after = predict_family(family, catalogue());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].predicted == before[i].predicted);
    CHECK(after[i].low == before[i].low);
    CHECK(after[i].high == before[i].high);
    CHECK(after[i].measured != before[i].measured);
  }
}

TEST_CASE("validation is the same with any number of workers, and as in this process") {
  const std::vector<Family> families = {weak_family("F2", 0.2), weak_family("F1"), strong_family(32)};
  ValidateOptions options;
  options.workers = 1;
  const Validation one = validate(corpus_of(families), catalogue(), options);
  options.workers = 3;
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t all) {
    CHECK(all == 3);
    last = done;
  };
  const Validation three = validate(corpus_of(families), catalogue(), options);
  CHECK(last == 3);
  REQUIRE(one.points.size() == 5);
  REQUIRE(three.points.size() == 5);
  CHECK(one.points[0].id == "F1");  // by id, then GPUs
  CHECK(one.points[0].gpus == 8);
  CHECK(one.points[1].gpus == 16);
  CHECK(one.points[2].id == "F2");
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(one.points[i].predicted == three.points[i].predicted);
    CHECK(one.points[i].low == three.points[i].low);
    CHECK(one.points[i].baselines == three.points[i].baselines);
  }
  const std::vector<ValidatedPoint> here = predict_family(families[1], catalogue());
  CHECK(one.points[0].predicted == here[0].predicted);
  CHECK(one.points[1].high == here[1].high);
  CHECK(one.points[1].largest_loss == here[1].largest_loss);
}

TEST_CASE("a family that cannot be simulated is declined with the reason, the others are predicted") {
  Family no_model = weak_family("F3");
  no_model.anchor.scenario.model.name = "resnet51";
  Family too_fast = weak_family("F4");
  too_fast.anchor.scenario.input.samples_per_s_per_node = 64;  // a second per step, measured 0.1
  Family alone = weak_family("F5");
  alone.points.clear();
  FamilyCorpus corpus = corpus_of({weak_family("F9"), alone, too_fast, no_model});
  corpus.declined = {{"F1", "mine", "Ethernet", "no such GPU"}};
  const Validation validation = validate(corpus, catalogue());
  REQUIRE(validation.declined.size() == 4);
  CHECK(validation.declined[0].id == "F1");
  CHECK(validation.declined[0].reason == "no such GPU");
  CHECK(validation.declined[1].reason.find("resnet51") != std::string::npos);
  CHECK(validation.declined[2].reason ==
        "the measured step is shorter than its input pipeline and communication alone");
  CHECK(validation.declined[3].reason.find("one number of GPUs") == 0);
  CHECK(validation.points.size() == 2);
  CHECK(validation.overall.rows == 5);
  CHECK(validation.overall.predicted == 1);
  CHECK(validation.lost == 0);
}

TEST_CASE("a family whose worker was killed is declined and counts as lost, the others are predicted") {
  ValidateOptions options;
  options.workers = 1;
  bool is_killed = false;
  options.progress = [&](std::size_t done, std::size_t) {
    if (done == 0 || is_killed) return;
    const std::vector<pid_t> workers = workers_now();
    REQUIRE(workers.size() == 1);
    is_killed = ::kill(workers[0], SIGKILL) == 0;
  };
  const Validation validation =
      validate(corpus_of({weak_family("F1"), weak_family("F2"), weak_family("F3")}), catalogue(), options);
  CHECK(is_killed);
  CHECK(validation.lost == 1);
  REQUIRE(validation.declined.size() == 1);
  CHECK(validation.declined[0].id == "F2");
  CHECK(validation.declined[0].reason.find("signal 9") != std::string::npos);
  CHECK(validation.overall.predicted == 2);
}

TEST_CASE("two families of one id are refused") {
  CHECK_THROWS_AS(validate(corpus_of({weak_family("F1"), weak_family("F1")}), catalogue()), Error);
}

}  // namespace
}  // namespace foretrain::sim::studies
