// The rule of the verdict on numbers written by hand.
#include "sim/studies/verdict.h"

#include "tests/catch.h"

namespace foretrain::sim::studies {
namespace {

struct Made {
  std::string name;
  int gpus = 1, nodes = 1;
  double gain = 1, low = 1, high = 1;
  bool fits = true;
  std::string machine = "";  // the base's
};

AlternativeAnswer answer(const Made& made) {
  AlternativeAnswer result;
  result.name = made.name;
  result.scenario.cluster.machine = made.machine;
  result.scenario.cluster.gpus = made.gpus;
  result.prediction.nodes = made.nodes;
  result.prediction.data_parallel = made.gpus;
  result.prediction.memory.fits = made.fits;
  result.prediction.memory.advice = "micro-batch 8 fits";
  result.prediction.binding = "computation";
  result.prediction.throughput = {100 * made.gain, 100 * made.low, 100 * made.high, "samples/s", "", true};
  result.prediction.cost = {10.0 * made.gpus / made.gain, 1, 1, "usd", "", true};
  result.prediction.cost.known = true;
  result.prediction.epoch_time.known = true;
  result.gain = made.gain;
  result.gain_interval = {made.gain, made.low, made.high, "1", "", true};
  result.independent_runs.known = false;
  return result;
}

Decision decided(const std::vector<Made>& options, const Made& base = {"the base"}) {
  Decision decision;
  decision.base = answer(base);
  for (const Made& option : options) decision.alternatives.push_back(answer(option));
  judge(decision);
  return decision;
}

std::string recommended(const Decision& decision) {
  return decision.recommended < 0 ? "" : decision.alternatives[static_cast<std::size_t>(decision.recommended)].name;
}

bool mentions(const Decision& decision, const std::string& text) {
  for (const std::string& reason : decision.reasons) {
    if (reason.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("the simplest clear gain is picked, bigger ones are said with what they buy") {
  const Decision decision = decided(
      {{"two nodes", 8, 2, 7.0, 6.3, 7.8}, {"one node", 4, 1, 3.6, 3.3, 3.9}, {"eight in one", 8, 1, 3.8, 3.4, 4.2}});
  CHECK(decision.answer == "Yes");
  CHECK(decision.verdict.rfind("Yes", 0) == 0);
  CHECK(recommended(decision) == "one node");
  CHECK(mentions(decision, "two nodes buys 7"));
  CHECK(mentions(decision, "several nodes"));
  CHECK(mentions(decision, "eight in one is not distinguishable"));
}

TEST_CASE("one faster GPU within reach of the distributed option wins") {
  const Decision decision =
      decided({{"one H100", 1, 1, 1.9, 1.6, 2.2, true, "H100"}, {"four A100", 4, 1, 2.2, 1.8, 2.6}});
  CHECK(decision.answer == "No");
  CHECK(recommended(decision) == "one H100");
  CHECK(decision.verdict.find("one faster GPU") != std::string::npos);
  CHECK(mentions(decision, "four A100"));
}

TEST_CASE("one faster GPU far below the distributed option does not") {
  const Decision decision =
      decided({{"one H100", 1, 1, 1.5, 1.4, 1.6, true, "H100"}, {"four A100", 4, 1, 3.6, 3.3, 3.9}});
  CHECK(decision.answer == "Yes");
  CHECK(recommended(decision) == "four A100");
}

TEST_CASE("nothing clearly faster: no, and why") {
  Decision decision;
  decision.base = answer({"one node", 8, 1});
  decision.alternatives = {answer({"two nodes", 16, 2, 1.04, 0.9, 1.2})};
  decision.alternatives[0].prediction.gradients = {100e6, 0.133, 0.110, "25 Gb/s tcp between 2 nodes"};
  judge(decision);
  CHECK(decision.answer == "No");
  CHECK(decision.recommended == -1);
  CHECK(mentions(decision, "133 ms per step over 25 Gb/s tcp between 2 nodes, longer than the backward pass (110 ms)"));
}

TEST_CASE("gradients hide behind the backward pass only where they move beside it") {
  Decision decision;
  decision.base = answer({"one node", 8, 1});
  decision.alternatives = {answer({"two nodes", 16, 2, 1.04, 0.9, 1.2})};
  GradientExchange& gradients = decision.alternatives[0].prediction.gradients;
  gradients = {100e6, 0.133, 0.110, "25 Gb/s tcp between 2 nodes"};
  SECTION("reduced after it") {
    gradients.overlaps = false;
    judge(decision);
    CHECK(mentions(decision, "between 2 nodes, after the backward pass: nothing computes meanwhile."));
    CHECK_FALSE(mentions(decision, "hide behind"));
  }
  SECTION("sharded parameters are gathered before forward passes too") {
    gradients.has_parameters = true;
    judge(decision);
    CHECK(mentions(decision, "gradients and sharded parameters (95.4 MiB) take 133 ms"));
    CHECK(mentions(decision, "in part while forward and backward passes compute."));
    CHECK_FALSE(mentions(decision, "hide behind"));
  }
}

TEST_CASE("slower is called slower") {
  const Decision decision = decided({{"two nodes", 16, 2, 0.6, 0.5, 0.7}}, {"one node", 8, 1});
  CHECK(decision.answer == "No");
  CHECK(decision.verdict.find("is slower") != std::string::npos);
}

TEST_CASE("other software on the same machines is recommended, and nothing is bought") {
  const Made base{"today's", 16, 2};
  const Decision decision =
      decided({{"ring", 16, 2, 1.3, 1.2, 1.4}, {"powersgd", 16, 2, 5.5, 4.5, 6.6}, {"fp16", 16, 2, 0.14, 0.1, 0.2}},
              base);
  CHECK(decision.answer == "Yes");
  CHECK(recommended(decision) == "powersgd");  // the fastest: all cost the same
  CHECK(decision.verdict.rfind(
            "Yes: with powersgd, training runs 5.5× (4.5–6.6×) as fast as today, on the same machines", 0) == 0);
  CHECK(decision.verdict.find("GPUs are enough") == std::string::npos);
  CHECK(mentions(decision, "ring gains less: 1.3×"));
  CHECK(mentions(decision, "fp16 is slower: 0.14×"));
  CHECK_FALSE(mentions(decision, "No way to distribute"));  // nobody asked for more GPUs
  const Decision one_node = decided({{"fp16", 8, 1, 2.0, 1.8, 2.2}}, {"one node", 8, 1});
  CHECK(one_node.verdict.find("on the same machine;") != std::string::npos);
}

TEST_CASE("other software that may gain nothing depends, and that gains nothing is not recommended") {
  const Made base{"today's", 16, 2};
  const Decision uncertain = decided({{"powersgd", 16, 2, 1.3, 0.9, 1.9}}, base);
  CHECK(uncertain.answer == "It depends");
  CHECK(uncertain.recommended == -1);
  CHECK(uncertain.verdict.find("with powersgd, training would run 1.3×") != std::string::npos);
  CHECK(uncertain.verdict.find("on the same machines") != std::string::npos);
  const Decision nothing = decided({{"powersgd", 16, 2, 1.02, 0.9, 1.2}}, base);
  CHECK(nothing.answer == "No");
  CHECK(nothing.verdict.rfind("No: stay with today's", 0) == 0);
}

TEST_CASE("as many GPUs of other machines are not the same machines") {
  const Made base{"today's", 16, 2, 1, 1, 1, true, "V100s"};
  const Decision faster = decided({{"H100s", 16, 2, 4, 3, 5, true, "H100s"}}, base);
  CHECK(faster.answer == "No");
  CHECK(faster.verdict.find("as many faster GPUs are enough") != std::string::npos);
  AlternativeAnswer network = answer(base);
  network.scenario.cluster.inter_node_gbits_per_s = 100;
  CHECK_FALSE(on_same_machines(network, answer(base)));
  network = answer(base);
  network.scenario.cluster.where = "elsewhere in the file";
  CHECK(on_same_machines(network, answer(base)));
}

TEST_CASE("other software is preferred to other machines, and to more of them unless these gain far more") {
  const Made base{"today's", 8, 1, 1, 1, 1, true, "V100s"};
  const Made software{"powersgd", 8, 1, 1.8, 1.5, 2.1, true, "V100s"};
  CHECK(recommended(decided({{"H100", 1, 1, 2, 1.8, 2.3, true, "H100"}, software}, base)) == "powersgd");
  CHECK(recommended(decided({{"two nodes", 16, 2, 1.9, 1.7, 2.1, true, "V100s"}, software}, base)) == "powersgd");
  CHECK(recommended(decided({{"four nodes", 32, 4, 3.8, 3.4, 4.2, true, "V100s"}, software}, base)) == "four nodes");
}

TEST_CASE("a simpler option that is slower is called slower") {
  const Decision decision =
      decided({{"one GPU", 1, 1, 0.14, 0.12, 0.16, true, "T4"}, {"two nodes", 16, 2, 1.9, 1.7, 2.1}},
              {"one node", 8, 1});
  CHECK(recommended(decision) == "two nodes");
  CHECK(mentions(decision, "one GPU is simpler, but slower: 0.14×"));
}

TEST_CASE("real gains at poor efficiency depend on what time is worth") {
  const Decision decision = decided({{"eight", 8, 1, 2.96, 2.7, 3.3}});  // 37 % per GPU
  CHECK(decision.answer == "It depends");
  CHECK(decision.verdict.find("37 %") != std::string::npos);
}

TEST_CASE("gains that may be nothing depend") {
  const Decision decision = decided({{"two", 2, 1, 1.4, 0.9, 2.1}});
  CHECK(decision.answer == "It depends");
  CHECK(decision.recommended == -1);
}

TEST_CASE("what does not fit is never picked, and said") {
  const Decision decision = decided({{"small GPUs", 4, 1, 3.9, 3.8, 4.0, false}, {"two nodes", 8, 2, 6.0, 5.5, 6.6}});
  CHECK(recommended(decision) == "two nodes");
  CHECK(mentions(decision, "small GPUs does not fit into memory"));
  const Decision nothing = decided({{"small GPUs", 4, 1, 3.9, 3.8, 4.0, false}});
  CHECK(nothing.answer == "No");
  CHECK(nothing.recommended == -1);
}

TEST_CASE("simpler means one GPU, then one node, then fewer GPUs") {
  const AlternativeAnswer one = answer({"", 1, 1}), four = answer({"", 4, 1}), eight = answer({"", 8, 1}),
                          two_nodes = answer({"", 4, 2});
  CHECK(simpler(one, four));
  CHECK(simpler(four, eight));
  CHECK(simpler(eight, two_nodes));
  CHECK_FALSE(simpler(two_nodes, eight));
  CHECK_FALSE(simpler(four, four));
}

}  // namespace
}  // namespace foretrain::sim::studies
