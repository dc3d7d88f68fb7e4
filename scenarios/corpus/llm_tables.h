// LlmTables: the mapping tables for runs of language models (scenarios/corpus/llm_*.json), read and checked.
//
// Each fact is what one rule says, as in tables.h. Where a rule fills in what a row does not state, it says under
// "assumed" what kind of thing that is; llm_assumptions.json says how far the step may be off because of it.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/corpus/tables.h"

namespace foretrain::scenarios {

// A fact of one text, such as the precision; `unsupported` not empty declines the class.
struct TextFact {
  std::string value, unsupported, assumed;
};

struct NumberFact {
  double value = 0;
  std::string assumed;
};

struct LlmMachineFact {
  MachineFact machine;
  std::string assumed;
};

struct ShardingFact {
  std::string sharding;         // of the plan; empty = the stack's own way
  std::int64_t shard_group = 0;
};

struct AssumptionFact {
  double relative_spread = 0;    // standard deviation of the step
  bool between_nodes = false;    // only where the run leaves a node
  bool pipelined = false;        // only with several pipeline stages
};

struct LlmTables {
  explicit LlmTables(const DataStore& data);

  RuleTable<std::string> unsupported;  // classes of rows, each with its reason
  RuleTable<std::string> zoo;
  RuleTable<NumbersFact> sizes, encoder_decoder_sizes;
  RuleTable<NumberFact> vocabularies;
  RuleTable<TextFact> gpus;
  RuleTable<LlmMachineFact> machines;
  RuleTable<TextFact> stacks;
  RuleTable<NumbersFact> stack_options;
  RuleTable<TextFact> precisions, recompute, sequence_parallel, schedules;
  RuleTable<ShardingFact> sharding;
  RuleTable<AssumptionFact> assumptions;
};

}  // namespace foretrain::scenarios
