// Batches: what happens to the batch when the number of GPUs is changed, and that batches fit the ranks.
#pragma once

#include <cstdint>

#include "scenarios/document.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// The file's own values, before --set and options.
struct OwnBatches {
  std::int64_t gpus = 1, micro_batch = 1, global_batch = 0, data_parallel = 1;
};
[[nodiscard]] OwnBatches own_batches(const sim::Scenario& file);

// gpus / (tensor · pipeline · context); 0 when the GPUs do not suffice for one replica.
[[nodiscard]] std::int64_t data_parallel_degree(const sim::Scenario& scenario);

// What was set on purpose by --set or the option, and so is kept as it is.
struct Pinned {
  bool global_batch = false, micro_batch = false;
};

// When the scenario has another number of GPUs or of data-parallel ranks than the file: weak scaling multiplies the
// file's global batch by the ratio of the GPUs; strong scaling keeps it, and a micro-batch that is more than a rank's
// share becomes that share. With `may_round`, a share that is no whole number is rounded down (and the global batch with it).
// Throws Error when the ratio makes no whole batch; what strong scaling cannot satisfy is left to check_batches.
void rescale_batches(const Document& document, sim::Scenario& scenario, const OwnBatches& own, Pinned pinned,
                     bool may_round);

// Throws Error when GPUs do not divide into replicas or the global batch into micro-batches.
void check_batches(const Document& document, const sim::Scenario& scenario, const OwnBatches& own, Pinned pinned);

}  // namespace foretrain::scenarios
