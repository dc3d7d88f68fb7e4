// Scenario: the question, as a plain value: what is trained, how, on what, with which software.
//
// scenarios/ turns text into this and back; sim/studies answer it. Field names and units are those of
// the file format (docs/scenario.md); an optional that is empty was not written by the user.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/precision.h"

namespace foretrain::sim {

enum class Scaling { weak, strong };

struct Training {
  std::int64_t micro_batch = 1;   // samples per GPU per forward pass
  std::int64_t global_batch = 0;  // samples per optimizer step over all GPUs; 0 = micro_batch · data-parallel degree
  std::int64_t sequence = 0;      // 0 = the model's default
  models::Precision precision = models::Precision::fp32;
  std::string optimizer = "adam";  // sgd, adam, adamw, lamb
  Scaling scaling = Scaling::weak;
  double dataset_samples = 0;  // 0 = not stated
  double epochs = 0;           // 0 = not stated
};

struct StackChoice {
  std::string name = "pytorch-ddp";
  std::string reducer;                    // how gradients are shared; empty = the stack's own way
  std::string compression = "none";       // of gradients on the wire: none, fp16, bf16, powersgd, top_k, onebit_adam
  std::map<std::string, double> options;  // overrides of stack values, by key
};

// A catalogue machine and what the user changes of it, or a machine described field by field.
struct ClusterChoice {
  std::string machine;  // empty: own fields, then gpu and gpus_per_node are required
  std::int64_t gpus = 1;
  std::optional<std::string> gpu;
  std::optional<std::int64_t> gpus_per_node;
  std::optional<std::string> intra_node;
  std::optional<double> intra_node_gbytes_per_s;   // per GPU and direction
  std::optional<std::int64_t> nics_per_node;
  std::optional<double> inter_node_gbits_per_s;    // sum over a node's NICs, per direction
  std::optional<std::string> network;
  std::optional<double> network_achieved_fraction;
  std::optional<std::int64_t> vcpus;
  std::optional<double> price_usd_per_hour;        // of one machine
  std::optional<std::int64_t> nodes_per_leaf;      // leaf switches; absent = non-blocking
  double oversubscription = 1.0;                   // leaf downlinks over uplinks
  double straggler_slowdown = 1.0;                 // one GPU that computes this much slower
  std::string where;                               // place in the user's input, for messages
};

// How ranks share the work; the data-parallel degree is gpus / (tensor · pipeline · context). Ranks lie as Megatron has
// them: tensor-parallel ones next to each other, then data-parallel ones, then pipeline stages (sim/layout.h).
struct Plan {
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1;
  bool sequence_parallel = false;     // norms, residuals and dropout on a tensor-parallel rank's part of the tokens
  std::string sharding;               // none, zero1 (optimizer), zero2 (gradients too), zero3 (parameters too), hsdp;
                                      // empty = the stack's own way
  std::int64_t shard_group = 0;       // of hsdp: ranks that share one copy; 0 = the GPUs of a node
  std::string tables = "replicated";  // or "sharded": large tables spread over all ranks (sim/tables.h)
  std::string recompute = "none";     // selective (the attention core), full (whole layers)
  std::int64_t recompute_every = 1;   // of full: the input of every so many layers is kept (Megatron's `uniform`)
  std::string schedule = "1f1b";      // none, gpipe, 1f1b, interleaved, zero-bubble, …: sim/strategies/schedule.h
  std::int64_t interleave = 1;        // chunks of layers per stage
  std::string stage_split = "even";   // or "time": stages of like compute time instead of like numbers of layers
  std::vector<std::int64_t> stage_layers;  // layers of each chunk in forward order, given; empty = by stage_split
};

struct InputPipeline {
  std::optional<double> samples_per_s_per_node;
  std::optional<double> samples_per_s_per_vcpu;  // scales with the machine; not together with the one above
  std::optional<double> storage_gbytes_per_s;    // shared by all nodes
  double dataset_bytes = 0;                      // 0 = not stated
};

// A step somebody measured; the rank's own work (kernels and launches) is anchored to it. It is the scenario's
// training on `gpus` GPUs: of the same global batch under strong scaling, and under weak scaling of as many
// micro-batches per GPU as the scenario accumulates.
struct Measured {
  std::string machine;           // on which machine; the reader fills in the file's own cluster.machine
  std::int64_t gpus = 1;
  std::int64_t micro_batch = 0;  // 0 = the scenario's
  double step_seconds = 0;
};

struct Scenario {
  std::string name;
  models::ModelSource model;
  Training training;
  StackChoice stack;
  ClusterChoice cluster;
  Plan plan;
  InputPipeline input;
  std::vector<Measured> measured;
};

// What decide compares: the base and its alternatives, each already a whole scenario.
struct Alternative {
  std::string name;  // "4 × Standard_NC96ads_A100_v4 (16 GPUs)"
  Scenario scenario;
};
struct Question {
  Scenario base;
  std::vector<Alternative> options;
  // With measured steps: the scenario as its file has it, before anything was changed from outside, which is the run
  // that they are of.
  std::optional<Scenario> as_written = {};
};

}  // namespace foretrain::sim
