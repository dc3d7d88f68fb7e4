// Schedule: in which order a pipeline stage runs the forward and backward passes of its micro-batches.
//
// Each is a list of turns; everything else (transfers, waiting, memory) follows from it. One file per schedule:
//   none         layers pinned to workers: one micro-batch at a time goes forward and back through all stages
//   gpipe        all forward passes, then all backward ones (Huang et al. 2019, arXiv:1811.06965)
//   1f1b         warm-up of p−1−s forward passes, then one forward, one backward (Narayanan et al. 2019, PipeDream-Flush)
//   interleaved  1f1b over v chunks per stage (Narayanan et al. 2021, arXiv:2104.04473, section 2.2)
//   zb-h1, zb-h2 backward split into input and weight gradients (Qi et al. 2023, arXiv:2401.10241): of 1f1b's memory,
//                and of about twice that
//   zb-v         the same over two chunks per stage that go down and up again (Qi et al. 2024, arXiv:2405.15362)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace foretrain::sim::strategies {

// `backward` is both gradients at once.
enum class Pass : std::uint8_t { forward, backward, input_gradient, weight_gradient };

struct Turn {
  Pass pass = Pass::forward;
  int chunk = 0;  // of this stage
  std::int64_t micro_batch = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

struct PipelineShape {
  int stages = 1;
  int chunks = 1;  // per stage
  std::int64_t micro_batches = 1;
};

// "zero-bubble" stands for zb-h1. Throws Error when the plan's schedule is unknown, or does not go with its interleave
// or the number of micro-batches (interleaved needs a multiple of the stages, zb-v two chunks).
void require_schedule(const Plan& plan, std::int64_t micro_batches);
[[nodiscard]] std::vector<Turn> schedule_of(const std::string& name, const PipelineShape& shape, int stage);

// A zero-bubble schedule: backward passes are split into input and weight gradients, and the optimizer updates without
// waiting for the other stages (validated afterwards), so that steps overlap.
[[nodiscard]] bool is_zero_bubble(const Plan& plan);

// Where the activations of a chunk come from and go to: stage and chunk before and after it, -1 at the ends.
struct Neighbour {
  int stage = -1, chunk = -1;
};
[[nodiscard]] Neighbour chunk_before(const std::string& schedule, const PipelineShape& shape, int stage, int chunk);
[[nodiscard]] Neighbour chunk_after(const std::string& schedule, const PipelineShape& shape, int stage, int chunk);

}  // namespace foretrain::sim::strategies
