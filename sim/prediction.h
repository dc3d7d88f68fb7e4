// Prediction: the answer about one scenario; Decision: the answer about many.
//
// Plain structs that reports write and studies fill. Every number is a Quantity with interval and
// provenance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parameter.h"
#include "base/quantity.h"
#include "calibrate/track_record.h"
#include "sim/scenario.h"

namespace foretrain::sim {

using NamedQuantity = std::pair<std::string, Quantity>;

struct MemoryAnswer {
  // Of a GPU of the fullest pipeline stage: parameters, gradients, optimizer, activations, logits, buckets, workspace,
  // framework.
  std::vector<NamedQuantity> parts;
  Quantity total, capacity;
  std::vector<Quantity> stages;  // totals of all pipeline stages
  std::size_t fullest = 0;       // index into them
  bool fits = true;
  std::string advice;  // when it does not fit: the largest category and the smallest change that fits
};

// One uncertain number and what it means for this answer. What the model leaves out altogether is a parameter
// too, over the whole step.
struct ParameterShare {
  Parameter parameter;
  double critical_seconds = 0;  // of the step's critical path
};

// One line of `explain`: a term of the step.
struct Term {
  std::string name;      // "layer3.conv2 forward", "all-reduce bucket 4"
  std::string group;     // "forward", "backward", "optimizer", "all_reduce", "launch", "input"
  double seconds = 0;    // busy time in one step
  std::string formula;
  std::string provenance;  // "measured", "interpolated", …
  std::string source;
};

// What holds the step: the kind of work that most of its critical path is.
enum class Bottleneck : std::uint8_t { computation, launches, communication, input };

// The gradients' way, to compare with what it can hide behind; zero on one GPU.
struct GradientExchange {
  double bytes = 0;             // of one GPU per step, as the buffer of an all-reduce that moves as much
  double seconds = 0;           // in which at least one collective moves data or settles its latency
  double backward_seconds = 0;  // of the last micro-batch, which is what they overlap with
  std::string over;             // "25 Gb/s tcp between 2 nodes", "nvlink_pairs inside the node"
  bool overlaps = true;         // some of it moves before the last backward pass has ended
  bool has_parameters = false;  // sharded ones are gathered too, in bytes and seconds
};

// How far the 5 % and 95 % quantiles lie from a value, in natural logarithms, both positive.
struct LogMargins {
  double below = 0, above = 0;
};

struct Prediction {
  Quantity step_time, throughput, speedup, efficiency;
  Quantity one_gpu_throughput;  // of one GPU of the same machine: what the speedup is over
  bool one_gpu_fits = true;     // else that is of one with as much memory as it takes
  std::vector<NamedQuantity> breakdown;  // sums to step_time
  MemoryAnswer memory;
  Quantity cost_per_hour, cost, energy;  // cost and energy: per epoch, or per million samples without a dataset size
  Quantity epoch_time, run_time;         // unknown without dataset_samples / epochs
  std::int64_t data_parallel = 1, accumulation = 1, global_batch = 0, nodes = 1;
  std::string sharding = "none";         // the plan's word, or else the stack's own way
  std::string binding;                   // what holds the step: "kernel launches", "gradient all-reduce", "input pipeline", …
  Bottleneck bottleneck = Bottleneck::computation;
  GradientExchange gradients;
  LogMargins unexplained_loss;             // of throughput and speedup, beside what the parameters leave open
  std::vector<ParameterShare> parameters;  // on the critical path, largest effect first
  std::vector<Term> terms;                 // filled when asked (explain)
  std::optional<calibrate::TrackRecord> track_record;  // of published curves on this kind of cluster
  std::optional<calibrate::RunRecord> run_record;      // of the published runs most like this one
  std::vector<std::string> warnings;       // extrapolating, retired machine, assumed rates
  bool extrapolating = false;
  std::uint64_t events = 0;
};

struct AlternativeAnswer {
  std::string name;
  Scenario scenario;
  Prediction prediction;
  double gain = 1.0;                 // throughput over the base's
  Quantity gain_interval;            // with shared draws
  double odds_faster_than_base = 0;  // probability that it is faster
  Quantity independent_runs;         // throughput of as many independent one-GPU runs together (several GPUs only)
};

struct Decision {
  std::string answer;   // "Yes", "No" or "It depends"
  std::string verdict;  // the sentence(s); begins with `answer`
  int recommended = -1; // index into alternatives; -1 = stay with the base
  std::vector<std::string> reasons;       // what the bigger one buys and costs, what binds
  std::vector<std::string> change_first;  // what to change before buying anything
  AlternativeAnswer base;
  std::vector<AlternativeAnswer> alternatives;
};

}  // namespace foretrain::sim
