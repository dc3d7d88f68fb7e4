// The first-order interval, which costs nothing, against 200 drawn replays.
#include <cmath>
#include <random>
#include <vector>

#include "base/statistics.h"
#include "sim/studies/replayed.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

Scenario random_scenario(std::mt19937_64& random) {
  const auto one_of = [&](auto choices) { return choices[random() % choices.size()]; };
  const std::string model =
      one_of(std::vector<std::string>{"resnet50", "vgg16", "bert-base", "vit-b-16", "gpt2", "crnn-handwriting"});
  const std::string machine = one_of(std::vector<std::string>{
      "p3.16xlarge", "p3dn.24xlarge", "Standard_ND96amsr_A100_v4", "Standard_NC24rs_v3", "Standard_NC96ads_A100_v4"});
  const std::int64_t gpus = one_of(std::vector<std::int64_t>{1, 4, 8, 16, 64});
  const std::int64_t micro_batch = one_of(std::vector<std::int64_t>{2, 8, 32});
  return scenario(model, machine, gpus, micro_batch,
                  one_of(std::vector<models::Precision>{models::Precision::fp32, models::Precision::fp16}));
}

TEST_CASE("the first-order interval is as wide as that of 200 replays") {
  std::mt19937_64 random(7);
  std::vector<double> ratios;
  for (int i = 0; i < 50; ++i) {
    const Scenario asked = random_scenario(random);
    const std::unique_ptr<Replayed> replayed = replay_scenario(asked, catalogue(), {});
    std::vector<double> steps;
    for (const DrawnStep& step : drawn_step_seconds(replayed->main, replayed->parameters, 200, 11)) {
      steps.push_back(step.all);
    }
    const double drawn = std::log(quantile(steps, 0.95) / quantile(steps, 0.05));
    const double first_order =
        2 * half_width_90() *
        log_spread(effects_of(replayed->main.critical, replayed->main.step_seconds(), replayed->parameters));
    ratios.push_back(first_order / drawn);
    INFO(asked.model.name << " on " << asked.cluster.gpus << " GPUs of " << asked.cluster.machine << ", micro-batch "
                          << asked.training.micro_batch);
    CHECK(std::abs(std::log(first_order / drawn)) < std::log(1.25));
  }
  CHECK(std::abs(std::log(quantile(ratios, 0.5))) < std::log(1.1));
}

}  // namespace
}  // namespace foretrain::sim::studies
