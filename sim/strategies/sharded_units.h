// ShardedUnitsReducer: zero3 and hsdp. Parameters lie in parts and are gathered unit by unit where they are used.
//
// Units are the model's blocks; everything else is the root, gathered when a micro-batch begins and kept until its end
// (torch/distributed/fsdp/_runtime_utils.py, _post_forward_reshard). A model without blocks has a unit for each layer
// and no root. A unit is gathered before its forward pass, dropped after it (`reshard_after_forward`) and gathered again
// before backward, which serves recomputing it too; after its backward pass it is dropped and its gradients are summed
// up and handed out in parts. `prefetched_units` are asked for before the unit in use runs; without any the next one is
// asked for when its turn comes, which in forward overlaps all the same because the host runs ahead, and in backward
// does not, because the gather queues behind the reduction that waits for the unit in use (PyTorch documentation, FSDP
// notes). At most `gathers_in_flight` gathered units wait for their use beside the one in use: a further gather does not
// begin before the earliest of them has been dropped. With `blocking_gathers` the host waits for the device before it
// calls a gather: one asked for when its turn comes begins after all computation before it, in forward too.
//
// Where parts lie in four bytes and travel in two, each gather is preceded by a cast of this rank's part, on a stream
// beside the compute stream (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, all_gather_copy_in).
//
// With hsdp all this goes on inside groups of `shard` ranks, and each rank's part of a unit's gradients is averaged with
// those of its peers in the other groups, on a communicator and a stream of its own.
//
// Before the next micro-batch the reductions of this one are waited for (_post_backward_final_callback).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/strategies/reducer.h"
#include "sim/strategies/sharded_calls.h"

namespace foretrain::sim::strategies {

class ShardedUnitsReducer final : public Reducer {
 public:
  // Groups of `shard` ranks, which divides the data-parallel ones.
  ShardedUnitsReducer(StepWriter& writer, int shard, bool gradients_in_parts);
  [[nodiscard]] std::vector<Communicator> communicators() const override;
  void begin_micro_batch(bool first, bool reduces) override;
  [[nodiscard]] std::vector<ActivityIndex> gather_for_forward(std::size_t index,
                                                              std::optional<ActivityIndex> on_device) override;
  void after_forward(std::size_t index, ActivityIndex done) override;
  [[nodiscard]] std::vector<ActivityIndex> gather_for_backward(std::size_t index, ActivityIndex on_device) override;
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  void after_any_backward(std::size_t index, ActivityIndex done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;
  [[nodiscard]] bool gathers_parameters() const override { return true; }
  [[nodiscard]] double updated_share() const override { return 1.0 / shard_; }
  [[nodiscard]] bool reduces_every_micro_batch() const override { return gradients_in_parts_; }

 private:
  struct Unit {
    std::string name;
    std::size_t first = 0, last = 0;              // operators
    std::optional<std::size_t> last_in_backward;  // the first in forward order that has a backward pass
    double gathered = 0, trained = 0;             // elements
    std::optional<ActivityIndex> gather;          // while it is there
    bool waited = false;                          // by what uses it
  };
  void find_units();
  void add_operator(Unit& unit, std::size_t index);
  [[nodiscard]] bool may_prefetch() const;
  void gather(Unit& unit);
  ActivityIndex call_gather(const Unit& unit, std::vector<ActivityIndex> waits);
  // What the first user of `unit` waits for.
  [[nodiscard]] std::vector<ActivityIndex> take(Unit& unit);
  void drop(Unit& unit, ActivityIndex after);
  void reduce(const Unit& unit, ActivityIndex gradients_done);

  StepWriter& writer_;
  int shard_, replicas_;
  Channel shards_, replica_;
  bool gradients_in_parts_, casts_, reshards_, copies_, blocks_;
  std::size_t prefetched_, most_gathered_;  // units
  double parameter_bytes_, gradient_bytes_;  // on the wire, per parameter
  Unit root_;
  std::vector<Unit> units_;  // in forward order
  struct Place {
    std::optional<std::size_t> unit;  // none = the root
    std::size_t begun = 0;            // units that begin here or before
    std::size_t ended = 0;            // units that end before
  };
  std::vector<Place> places_;  // by operator
  // Of the micro-batch that goes on:
  bool first_ = true;
  bool root_gathered_ = false;
  std::optional<ActivityIndex> on_device_;  // what a blocking gather waits for
  std::size_t next_forward_ = 0;   // the next unit to be gathered for forward
  std::size_t next_backward_ = 0;  // one more than the next for backward
  std::vector<ActivityIndex> reductions_;
  // Over all of them:
  std::size_t held_ = 0;            // units that were gathered and whose end nobody has waited for
  std::deque<ActivityIndex> ends_;  // of those that have been dropped
};

}  // namespace foretrain::sim::strategies
