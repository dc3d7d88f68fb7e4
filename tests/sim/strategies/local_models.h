// Decoders of any size and what a rank has of them, for tests of splitters and stages.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/strategies/splitters.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {

struct Sizes {  // of GPT-2 unless said otherwise
  std::int64_t layers = 2, hidden = 1024, heads = 16, sequence = 512, micro_batch = 3, vocabulary = 51200;
  std::int64_t key_value_heads = 0;  // 0 = heads
  bool gated = false, rotary = false, biases = true, tied = true, dropout = true;
};

inline models::Model zoo_model(const std::string& name, std::int64_t micro_batch,
                               std::map<std::string, double> overrides = {}) {
  models::ModelSource source;
  source.name = name;
  source.overrides = std::move(overrides);
  return models::build_model(source, {micro_batch, 0}, studies::catalogue().data());
}

inline models::Model decoder(const Sizes& sizes) {
  const auto real = [](std::int64_t size) { return static_cast<double>(size); };
  const auto flag = [](bool is_set) { return is_set ? 1.0 : 0.0; };
  return zoo_model("gpt2", sizes.micro_batch,
                   {{"layers", real(sizes.layers)},
                    {"hidden", real(sizes.hidden)},
                    {"heads", real(sizes.heads)},
                    {"key_value_heads", real(sizes.key_value_heads)},
                    {"feed_forward", real(4 * sizes.hidden)},
                    {"sequence", real(sizes.sequence)},
                    {"positions", real(sizes.sequence)},
                    {"vocabulary", real(sizes.vocabulary)},
                    {"gated_feed_forward", flag(sizes.gated)},
                    {"rotary_positions", flag(sizes.rotary)},
                    {"learned_positions", flag(!sizes.rotary)},
                    {"biases", flag(sizes.biases)},
                    {"query_key_value_biases", flag(sizes.biases)},
                    {"tied_embeddings", flag(sizes.tied)},
                    {"dropout", flag(sizes.dropout)}});
}

// A rank's part in half precision under `plan`, with a stack that neither fuses nor pads unless it is told to.
struct Splitting {
  Scenario scenario = studies::scenario("", "DGX A100 80GB", 64, 1, models::Precision::fp16);
  calibrate::Stack stack = studies::catalogue().stack("pytorch-ddp");

  explicit Splitting(const Plan& plan = {}) {
    scenario.plan = plan;
    set("fused_elementwise", 0);
    set("vocabulary_multiple", 1);
  }
  void set(const std::string& key, double value) { stack.values.at(key).value = value; }
  LocalModel of(const models::Model& model) const { return split(model, scenario, stack); }
};

inline Plan tensor_plan(std::int64_t ranks, bool sequence_parallel = false, const std::string& recompute = "none") {
  Plan plan;
  plan.tensor = ranks;
  plan.sequence_parallel = sequence_parallel;
  plan.recompute = recompute;
  return plan;
}

inline const LocalOperator& operator_named(const LocalModel& model, const std::string& name) {
  const auto operators = flat_operators(model);
  for (const LocalOperator* local : operators) {
    if (local->op.name == name) return *local;
  }
  FAIL("no operator " << name);
  return *operators.front();
}

}  // namespace foretrain::sim::strategies
