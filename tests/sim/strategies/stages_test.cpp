#include "sim/strategies/stages.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/strategies/stage_cuts.h"
#include "tests/sim/strategies/local_models.h"

namespace foretrain::sim::strategies {
namespace {

Plan pipeline(std::int64_t stages, std::int64_t interleave = 1) {
  Plan plan;
  plan.pipeline = stages;
  plan.interleave = interleave;
  return plan;
}

LocalModel local_decoder(std::int64_t layers, const Plan& plan = {}, bool tied = true) {
  Sizes sizes;
  sizes.layers = layers;
  sizes.hidden = 64;
  sizes.heads = 4;
  sizes.sequence = 16;
  sizes.vocabulary = 1000;
  sizes.tied = tied;
  return Splitting(plan).of(decoder(sizes));
}

std::vector<std::string> names(const LocalModel& chunk) {
  std::vector<std::string> found;
  for (const LocalLayer& layer : chunk.layers) found.push_back(layer.name);
  return found;
}

std::vector<std::size_t> blocks(const std::vector<Stage>& stages) {
  std::vector<std::size_t> counts;
  for (const Stage& stage : stages) {
    for (const LocalModel& chunk : stage) {
      counts.push_back(static_cast<std::size_t>(std::count_if(chunk.layers.begin(), chunk.layers.end(),
                                                              [](const LocalLayer& layer) { return layer.is_block; })));
    }
  }
  return counts;
}

using Names = std::vector<std::string>;
using Counts = std::vector<std::size_t>;

TEST_CASE("blocks are dealt out evenly, embeddings with the first stage and the head with the last") {
  const std::vector<Stage> stages = stages_of(local_decoder(7), pipeline(3), {});
  REQUIRE(stages.size() == 3);
  CHECK(names(stages[0].at(0)) == Names{"embeddings", "h.0", "h.1", "h.2"});
  CHECK(names(stages[1].at(0)) == Names{"h.3", "h.4"});
  CHECK(names(stages[2].at(0)) == Names{"h.5", "h.6", "head"});
}

TEST_CASE("one stage has the model") {
  const LocalModel model = local_decoder(3);
  const std::vector<Stage> stages = stages_of(model, {}, {});
  REQUIRE(stages.size() == 1);
  CHECK(names(stages[0].at(0)) == names(model));
  CHECK(parameter_count(stages[0].at(0)) == parameter_count(model));
}

TEST_CASE("interleaved chunks go round the stages") {
  const std::vector<Stage> stages = stages_of(local_decoder(8), pipeline(2, 2), {});
  CHECK(names(stages[0].at(0)) == Names{"embeddings", "h.0", "h.1"});
  CHECK(names(stages[1].at(0)) == Names{"h.2", "h.3"});
  CHECK(names(stages[0].at(1)) == Names{"h.4", "h.5"});
  CHECK(names(stages[1].at(1)) == Names{"h.6", "h.7", "head"});
}

TEST_CASE("chunks of zb-v go down the stages and up again, so that the first has embeddings and head") {
  Plan plan = pipeline(2, 2);
  plan.schedule = "zb-v";
  const std::vector<Stage> stages = stages_of(local_decoder(4), plan, {});
  CHECK(names(stages[0].at(0)) == Names{"embeddings", "h.0"});
  CHECK(names(stages[1].at(0)) == Names{"h.1"});
  CHECK(names(stages[1].at(1)) == Names{"h.2"});
  CHECK(names(stages[0].at(1)) == Names{"h.3", "head"});
  CHECK(shared_parameters(stages) == 0);  // both users of the table stand on stage 0
}

TEST_CASE("given numbers of layers are kept, and have to add up") {
  Plan plan = pipeline(3);
  plan.stage_layers = {1, 4, 2};
  CHECK(blocks(stages_of(local_decoder(7), plan, {})) == Counts{1, 4, 2});
  for (const std::vector<std::int64_t>& wrong : std::vector<std::vector<std::int64_t>>{
           {3, 4}, {1, 4, 1}, {1, 5, 2}, {5, 0, 2}, {-1, 6, 2}, {1, 1, std::int64_t{1} << 62}}) {
    plan.stage_layers = wrong;
    try {
      static_cast<void>(stages_of(local_decoder(7), plan, {}));
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.where() == "/plan/stage_layers");
    }
  }
}

TEST_CASE("more chunks than layers and unknown ways to split are errors") {
  CHECK_THROWS_AS(stages_of(local_decoder(3), pipeline(4), {}), Error);
  CHECK_THROWS_AS(stages_of(local_decoder(3), pipeline(2, 2), {}), Error);
  Plan plan = pipeline(2);
  plan.stage_split = "memory";
  CHECK_THROWS_AS(stages_of(local_decoder(3), plan, {}), Error);
}

TEST_CASE("by time a slow head gets fewer blocks beside it") {
  Plan plan = pipeline(2);
  plan.stage_split = "time";
  // Embeddings 0, six blocks of 1, a head of 2: 4 | 2 + 2.
  CHECK(blocks(stages_of(local_decoder(6), plan, {0, 1, 1, 1, 1, 1, 1, 2})) == Counts{4, 2});
}

TEST_CASE("stages have all layers once and in order, numbers differ by at most one") {
  for (const char* name : {"gpt2", "bert-base-pretraining", "transformer-base", "resnet50", "crnn-handwriting"}) {
    const LocalModel model = Splitting().of(zoo_model(name, 1));
    for (std::int64_t stages = 1; stages <= 3; ++stages) {
      for (std::int64_t interleave = 1; interleave <= 2; ++interleave) {
        CAPTURE(name, stages, interleave);
        const std::vector<Stage> dealt = stages_of(model, pipeline(stages, interleave), {});
        Names all;
        for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(interleave); ++chunk) {
          for (const Stage& stage : dealt) {
            const Names more = names(stage.at(chunk));
            all.insert(all.end(), more.begin(), more.end());
          }
        }
        CHECK(all == names(model));
        Counts counts = blocks(dealt);
        const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
        CHECK(*high - *low <= 1);
      }
    }
  }
}

double slowest(const std::vector<double>& seconds, const Counts& counts) {
  double most = 0;
  std::size_t layer = 0;
  for (const std::size_t count : counts) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += seconds[layer++];
    most = std::max(most, sum);
  }
  return most;
}

// The best of all contiguous cuts.
double best_of_all(const std::vector<double>& seconds, std::size_t first, std::size_t chunks) {
  if (chunks == 1) return std::accumulate(seconds.begin() + static_cast<std::ptrdiff_t>(first), seconds.end(), 0.0);
  double best = std::accumulate(seconds.begin(), seconds.end(), 0.0), sum = 0;
  for (std::size_t end = first + 1; end + chunks - 1 <= seconds.size(); ++end) {
    sum += seconds[end - 1];
    best = std::min(best, std::max(sum, best_of_all(seconds, end, chunks - 1)));
  }
  return best;
}

TEST_CASE("cuts by time are as good as any, and so never worse than even ones") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto layers = std::uniform_int_distribution<std::size_t>(1, 12)(random);
    const auto chunks = std::uniform_int_distribution<std::size_t>(1, std::min<std::size_t>(layers, 5))(random);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < layers; ++i) seconds.push_back(std::exponential_distribution<double>(1)(random));
    const Counts counts = timed_counts(seconds, chunks);
    CAPTURE(seed, layers, chunks);
    REQUIRE(counts.size() == chunks);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == layers);
    CHECK(*std::min_element(counts.begin(), counts.end()) >= 1);
    CHECK(slowest(seconds, counts) == Approx(best_of_all(seconds, 0, chunks)).epsilon(1e-12));
    CHECK(slowest(seconds, counts) <= slowest(seconds, even_counts(layers, chunks)) * (1 + 1e-12));
  }
}

TEST_CASE("with several chunks per stage the slowest stage by time is no slower than evenly split") {
  const LocalModel model = local_decoder(9);
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      seconds.push_back(std::exponential_distribution<double>(1)(random));
    }
    const auto slowest_stage = [&](const std::string& split) {
      Plan plan = pipeline(2, 2);
      plan.stage_split = split;
      double most = 0;
      for (const Stage& stage : stages_of(model, plan, seconds)) {
        double sum = 0;
        for (const LocalModel& chunk : stage) {
          for (const std::string& name : names(chunk)) {
            const Names all = names(model);
            sum += seconds[static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin())];
          }
        }
        most = std::max(most, sum);
      }
      return most;
    };
    CAPTURE(seed);
    CHECK(slowest_stage("time") <= slowest_stage("even"));
  }
}

TEST_CASE("a tied table is the last stage's own as well, unless it stands there") {
  const double table = 1000.0 * 64;
  const LocalModel model = local_decoder(4);
  const std::vector<Stage> stages = stages_of(model, pipeline(2), {});
  CHECK(shared_parameters(stages) == table);
  const models::Operator& head = operator_named(stages[1].at(0), "lm_head").op;
  CHECK(head.parameters.at(0).name == "wte.weight");
  CHECK(head.tied_parameters.empty());
  CHECK(parameter_count(stages[0].at(0)) + parameter_count(stages[1].at(0)) == parameter_count(model) + table);

  const std::vector<Stage> one = stages_of(model, {}, {});
  CHECK(shared_parameters(one) == 0);
  CHECK(operator_named(one[0].at(0), "lm_head").op.tied_parameters.size() == 1);
  CHECK(shared_parameters(stages_of(local_decoder(4, {}, false), pipeline(2), {})) == 0);
  // Tensor-parallel ranks share their parts.
  CHECK(shared_parameters(stages_of(local_decoder(4, tensor_plan(4)), pipeline(2), {})) == table / 4);
}

TEST_CASE("embedding and head may be chunks by themselves, others have layers") {
  Plan plan = pipeline(4);
  plan.stage_layers = {0, 3, 3, 0};
  const LocalModel model = local_decoder(6, plan);
  const std::vector<Stage> stages = stages_of(model, plan, {});
  std::size_t layers = 0;
  for (const Stage& stage : stages) layers += stage.at(0).layers.size();
  CHECK(layers == model.layers.size());
  CHECK(stages[0].at(0).layers.front().name == model.layers.front().name);
  CHECK_FALSE(stages[0].at(0).layers.back().is_block);
  CHECK_FALSE(stages[3].at(0).layers.front().is_block);
  CHECK(stages[1].at(0).layers.size() == 3);
  plan.stage_layers = {3, 0, 3, 0};
  CHECK_THROWS_AS(stages_of(model, plan, {}), Error);
}

TEST_CASE("layers that share their weights have one copy on every stage") {
  const LocalModel model = Splitting().of(zoo_model("albert-base", 1));
  const std::vector<Stage> stages = stages_of(model, pipeline(3), {});
  const auto own = [&](const std::string& name) { return operator_named(stages[1].at(0), name).op.parameters.size(); };
  CHECK(own("encoder.layer.4.intermediate.dense") == 2);
  CHECK(own("encoder.layer.5.intermediate.dense") == 0);
}

TEST_CASE("no zoo model shares tensors between stages without being tied") {
  for (const models::ZooEntry& entry : models::zoo_entries(studies::catalogue().data())) {
    CAPTURE(entry.name);
    const LocalModel model = Splitting().of(zoo_model(entry.name, 1));
    const bool tied = [&] {
      const auto operators = flat_operators(model);
      return std::any_of(operators.begin(), operators.end(),
                         [](const LocalOperator* local) { return !local->op.tied_parameters.empty(); });
    }();
    if (!tied) CHECK(shared_parameters(stages_of(model, pipeline(2), {})) == 0);
  }
}

TEST_CASE("recomputed blocks are counted within their chunk") {
  Plan plan = pipeline(2);
  plan.recompute = "full";
  plan.recompute_every = 2;
  const std::vector<Stage> stages = stages_of(local_decoder(6, plan), plan, {});
  for (const Stage& stage : stages) CHECK(stage.at(0).segments.size() == 2);  // of 2 blocks and 1
  const LocalModel& second = stages[1].at(0);
  CHECK(operator_named(second, "h.3.ln_1").segment == 0);
  CHECK(operator_named(second, "h.4.ln_1").segment == 0);
  CHECK(operator_named(second, "h.5.ln_1").segment == 1);
  CHECK(operator_named(second, "lm_head").segment == not_recomputed);
}

}  // namespace
}  // namespace foretrain::sim::strategies
