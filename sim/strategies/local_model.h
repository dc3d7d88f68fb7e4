// LocalModel: what one rank computes of the model, after splitters have cut it and added their collectives.
//
// A splitter turns layers into layers of local operators: smaller shapes, and around an operator the collectives that
// its inputs or results need. Recompute marks which operators keep nothing between forward and backward. Chunk
// (sim/strategies/chunk.h) writes it as activities, sim/memory.h counts what it holds; both read nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.h"
#include "calibrate/collective_profile.h"
#include "models/model.h"

namespace foretrain::sim::strategies {

// A collective between two pieces of work, which the later one waits for.
struct LayerCollective {
  std::string communicator;  // a name of sim/layout.h
  calibrate::CollectiveKind kind = calibrate::CollectiveKind::all_reduce;
  Bytes bytes;  // as Activity::bytes counts them
  // A gather that repeats one of forward, for weight gradients: nothing else waits for it, so that frameworks start it
  // beside the products of the input's gradient.
  bool repeats_forward = false;
};

inline constexpr std::size_t not_recomputed = static_cast<std::size_t>(-1);

struct LocalOperator {
  models::Operator op;  // this rank's part
  // In the order in which they run. Those of forward run again when the operator is recomputed.
  std::vector<LayerCollective> before_forward, after_forward, before_backward, after_backward;
  std::size_t segment = not_recomputed;  // index into LocalModel::segments
};

struct LocalLayer {
  std::string name;
  bool is_block = false;  // as models::Layer
  std::vector<LocalOperator> operators;
  // Elements of what goes from this layer to the next on this rank, for one micro-batch (a pipeline sends them; with
  // sequence parallelism only the rank's part).
  double output_elements = 0;
};

// Consecutive operators that run forward again, from first to last, before the backward pass of the last of them.
// Forward keeps only `kept_elements` for all of them (of what they would otherwise save), recomputing brings the rest.
struct RecomputeSegment {
  double kept_elements = 0;
};

struct LocalModel {
  std::string name;
  std::vector<LocalLayer> layers;
  std::vector<RecomputeSegment> segments;
};

// The operators of all layers, in forward order.
[[nodiscard]] std::vector<const LocalOperator*> flat_operators(const LocalModel& model);
[[nodiscard]] std::vector<const models::Operator*> flat_operators(const models::Model& model);
// Trained parameters.
[[nodiscard]] double parameter_count(const LocalModel& model);

}  // namespace foretrain::sim::strategies
