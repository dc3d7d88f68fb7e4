// Run traits: what kind of training a run is, for the question which measured runs are like it.
//
// Everything by which one run's accuracy may speak for another's, and nothing that was measured: the software, the
// device, how state and layers are shared, and the sizes that decide what the step is bound by.
#pragma once

#include <cstdint>
#include <string>

namespace foretrain::calibrate {

struct RunTraits {
  std::string family;     // of the model: "transformer"
  std::string stack;      // of the catalogue: "megatron"
  std::string chip;       // Device::chip: "A100"
  std::string precision;  // "bf16"
  std::string network;    // of the cluster, "" on one node: "infiniband"
  std::string sharding;   // chosen: "none", "zero1", …
  std::string schedule;   // of the pipeline, "none" without one
  std::string recompute;  // "none", "selective", "full"
  std::int64_t gpus = 1, nodes = 1;
  std::int64_t tensor = 1, pipeline = 1;
  double parameters = 0;            // of the whole model; 0 = not known
  double tokens_per_pass = 0;       // of a micro-batch (its samples times the sequence; samples where there is none)
  double flops_per_kernel = 0;      // forward FLOPs of one rank's pass over its layers, by kernel launched: how far
                                    // the host has to keep up
};

}  // namespace foretrain::calibrate
