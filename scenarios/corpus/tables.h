// Tables: the mapping tables of scenarios/corpus/*.json, read and checked.
//
// Each fact is what one rule says; an `unsupported` that is not empty is the reason for which the whole class of rows
// is declined. docs/data.md describes the files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/data.h"
#include "scenarios/corpus/rule_table.h"

namespace foretrain::scenarios {

struct ModelFact {
  std::string zoo, optimizer, unsupported;
  std::int64_t sequence = 0;  // where the row states none; 0 = the zoo's own
};
using NumbersFact = std::map<std::string, double>;  // sizes of a model, options of a stack: by key

struct DeviceFact {
  std::string device, unsupported;
};

// A machine of the catalogue, or one of its own: gpus_per_node and intra_node.
struct MachineFact {
  std::string machine, intra_node, network;
  std::int64_t gpus_per_node = 0;  // 0 = the machine's own
  std::int64_t gpus_per_node_at_most =
      0;                              // a curve up to this count is of one node where no network is stated; 0 = none
  std::int64_t nics_per_node = 0;     // 0 = the machine's own
  double inter_node_gbits_per_s = 0;  // 0 = the machine's own
};

struct StackFact {
  std::string stack, across_nodes, unsupported;  // across_nodes empty = `stack` there too
  bool parameter_server = false;
};

// Of one node; nothing = no limit.
struct LoaderFact {
  std::optional<double> samples_per_s_per_node, samples_per_s_per_vcpu;
};

struct UnitFact {
  double per_sample = 1;  // units of the metric that one sample is; 0 = as many as its sequence is long
  bool batch_in_units = false;
};

struct BatchFact {
  double assumed_batch_per_gpu = 0;
  double memory_factor = 1;  // of a GPU's memory that a published batch may take by our estimate
  double least_micro_batch_seconds = 0, most_micro_batch_seconds = 0;
};

struct CorpusTables {
  explicit CorpusTables(const DataStore& data);

  RuleTable<ModelFact> models;
  RuleTable<NumbersFact> sizes;
  RuleTable<DeviceFact> gpus;
  RuleTable<MachineFact> machines, default_machines;
  // Of a network's description: what the whole of it says, and clause by clause.
  RuleTable<std::string> whole_texts, unsupported_networks, clause_uses, clause_kinds, network_groups;
  RuleTable<double> port_rates;  // gbits_per_s
  RuleTable<StackFact> stacks;
  RuleTable<NumbersFact> stack_options;
  RuleTable<bool> sharded_tables;
  RuleTable<LoaderFact> loaders;
  RuleTable<UnitFact> units;
  RuleTable<std::string> precisions;
  RuleTable<BatchFact> batches;
};

}  // namespace foretrain::scenarios
