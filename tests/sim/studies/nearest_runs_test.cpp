#include "sim/studies/nearest_runs.h"

#include <cmath>

#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

using calibrate::PredictedRun;
using calibrate::RunTraits;

// GPT on A100 with Megatron, eight-fold tensor parallel.
RunTraits like_published(std::int64_t gpus, double parameters) {
  RunTraits traits;
  traits.family = "transformer";
  traits.stack = "megatron";
  traits.chip = "A100";
  traits.precision = "fp16";
  traits.gpus = gpus;
  traits.tensor = 8;
  traits.pipeline = 8;
  traits.parameters = parameters;
  traits.tokens_per_pass = 2048;
  return traits;
}

// Six runs of 64 to 2,048 GPUs that were predicted 2, 4, … 12 % too slow, of which the baseline erred by 14 %.
std::vector<PredictedRun> published() {
  std::vector<PredictedRun> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back({"run-" + std::to_string(i), i < 3 ? "one" : "two", like_published(64LL << i, 175e9), 0.02 * (i + 1),
                    0.14, i != 5});
  }
  return runs;
}

TEST_CASE("what measured runs say is their errors, skill and how many intervals held") {
  const auto record = nearest_runs(published(), like_published(512, 175e9));
  REQUIRE(record);
  CHECK(record->runs == 5);  // within a factor of 4 of 512 GPUs: 128 to 2,048
  CHECK(record->sources == 2);
  CHECK(record->held == 4);
  CHECK(record->least_gpus == 128);
  CHECK(record->most_gpus == 2048);
  CHECK(record->median_ape == Approx(0.08));         // of 4, 6, 8, 10, 12 %
  CHECK(record->mape == Approx(0.08));
  CHECK(record->skill == Approx(1 - 0.08 / 0.14));
  CHECK(record->beyond.empty());
}

TEST_CASE("an answer far from all runs says by how much and in what") {
  const auto larger = nearest_runs(published(), like_published(16384, 1e12));
  REQUIRE(larger);
  CHECK(larger->beyond == std::vector<std::string>{"8.0 × their most GPUs", "5.7 × their most parameters"});
  RunTraits elsewhere = like_published(64, 175e9);
  elsewhere.chip = "H100";
  elsewhere.precision = "fp8";
  const auto other = nearest_runs(published(), elsewhere);
  REQUIRE(other);
  CHECK(other->alike == std::vector<std::string>{"tensor and pipeline parallel", "megatron"});
  CHECK(other->beyond == std::vector<std::string>{"none on H100", "none in fp8"});
}

TEST_CASE("beyond the evidence an interval holds its nearest runs, and grows with the distance") {
  CHECK_FALSE(margins_beyond(published(), like_published(512, 175e9)));
  RunTraits elsewhere = like_published(64, 175e9);
  elsewhere.chip = "H100";
  // Of six runs ⌈0.9 · 7⌉ = 7, so all: predicted up to 12 % too slow, which is ln 1.12 below.
  const auto near = margins_beyond(published(), elsewhere);
  REQUIRE(near);
  CHECK(near->below == Approx(std::log(1.12)));
  CHECK(near->above == 0);
  // 16,384 GPUs are ln 8 beyond 2,048; the runs span ln 32 from 64 on.
  const auto far = margins_beyond(published(), like_published(16384, 175e9));
  REQUIRE(far);
  CHECK(far->below == Approx(std::sqrt(1 + std::log(8.0) / std::log(2048.0 / 64)) * std::log(1.12)));
}

TEST_CASE("bf16 runs are as wide as fp16 runs") {
  RunTraits traits = like_published(512, 175e9);
  traits.precision = "bf16";
  CHECK(nearest_runs(published(), traits)->beyond.empty());
}

TEST_CASE("runs of another kind of plan or family of models say nothing") {
  RunTraits whole = like_published(64, 175e9);
  whole.tensor = whole.pipeline = 1;
  CHECK_FALSE(nearest_runs(published(), whole));
  RunTraits images = like_published(64, 175e9);
  images.family = "convnet";
  CHECK_FALSE(nearest_runs(published(), images));
  CHECK_FALSE(nearest_runs({}, like_published(64, 175e9)));
}

TEST_CASE("without a baseline there is no skill") {
  std::vector<PredictedRun> runs = published();
  for (PredictedRun& run : runs) run.baseline_error = std::nan("");
  CHECK(std::isnan(nearest_runs(runs, like_published(512, 175e9))->skill));
}

}  // namespace
}  // namespace foretrain::sim::studies
