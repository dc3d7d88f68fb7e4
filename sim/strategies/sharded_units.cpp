#include "sim/strategies/sharded_units.h"

#include <algorithm>
#include <utility>

#include "models/precision.h"
#include "sim/strategies/sharded.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {

using calibrate::CollectiveKind;

ShardedUnitsReducer::ShardedUnitsReducer(StepWriter& writer, int shard, bool gradients_in_parts)
    : writer_(writer),
      shard_(shard),
      replicas_(writer.layout().data() / shard),
      shards_(writer, shard_communicator, writer.communication()),
      replica_(writer, replica_communicator, writer.stream("replica communication", StreamKind::communication)),
      gradients_in_parts_(gradients_in_parts),
      casts_(casts_parts_for_gathers(writer.input().scenario.plan, writer.input().stack)),
      reshards_(writer.stack("reshard_after_forward") != 0),
      copies_(writer.stack("gradient_as_bucket_view") == 0),
      blocks_(writer.stack("blocking_gathers") != 0),
      prefetched_(static_cast<std::size_t>(writer.stack("prefetched_units"))),
      most_gathered_(static_cast<std::size_t>(writer.stack("gathers_in_flight")) + 1),
      parameter_bytes_(bytes_sent(writer, "gather_bytes_per_parameter")),
      gradient_bytes_(bytes_sent(writer, "gradient_bytes_per_parameter")) {
  find_units();
}

std::vector<Communicator> ShardedUnitsReducer::communicators() const {
  std::vector<Communicator> all = {writer_.layout().shard_groups(shard_)};
  if (replicas_ > 1) all.push_back(writer_.layout().replica_groups(shard_));
  return all;
}

void ShardedUnitsReducer::find_units() {
  const std::vector<models::Layer>& layers = writer_.rank_model().layers;
  const std::vector<std::size_t>& layer_of = writer_.local_units();
  const bool has_blocks = std::any_of(layers.begin(), layers.end(), [](const auto& layer) { return layer.is_block; });
  root_.name = "root";
  std::optional<std::size_t> open;  // layer of the last unit
  for (std::size_t i = 0; i < layer_of.size(); ++i) {
    const models::Layer& layer = layers[layer_of[i]];
    const bool own = layer.is_block || !has_blocks;
    if (own && open != layer_of[i]) {
      units_.emplace_back();
      units_.back().name = layer.name;
      units_.back().first = i;
      open = layer_of[i];
    }
    add_operator(own ? units_.back() : root_, i);
    Place place;
    if (own) place.unit = units_.size() - 1;
    place.begun = units_.size();
    place.ended = own ? units_.size() - 1 : units_.size();
    places_.push_back(place);
  }
}

void ShardedUnitsReducer::add_operator(Unit& unit, std::size_t index) {
  const models::Operator& op = writer_.local_operators()[index]->op;
  unit.last = index;
  if (!op.forward_only && !unit.last_in_backward) unit.last_in_backward = index;
  if (op.often_sharded && spreads_tables(writer_.input().scenario.plan)) return;
  const auto trained = static_cast<double>(models::parameter_count(op));
  unit.trained += trained;
  unit.gathered += trained + static_cast<double>(models::frozen_parameter_count(op));
}

void ShardedUnitsReducer::begin_micro_batch(bool first, bool /*reduces*/) {
  first_ = first;
  root_gathered_ = false;
  next_forward_ = 0;
  next_backward_ = units_.size();
  for (Unit& unit : units_) unit.gather.reset();
}

// Whether one more unit finds room when those dropped so far are gone.
bool ShardedUnitsReducer::may_prefetch() const { return held_ - ends_.size() < most_gathered_; }

void ShardedUnitsReducer::gather(Unit& unit) {
  unit.waited = false;
  if (unit.gathered == 0) return;
  std::vector<ActivityIndex> waits;
  if (blocks_ && on_device_) waits.push_back(*on_device_);
  for (; held_ >= most_gathered_ && !ends_.empty(); --held_) {
    waits.push_back(ends_.front());
    ends_.pop_front();
  }
  ++held_;
  unit.gather = call_gather(unit, std::move(waits));
}

ActivityIndex ShardedUnitsReducer::call_gather(const Unit& unit, std::vector<ActivityIndex> waits) {
  const std::string name = "parameters of " + unit.name;
  const double full = models::activation_bytes(models::Precision::fp32);
  if (casts_ && parameter_bytes_ < full) {
    Program& program = writer_.program();
    const calibrate::OperatorTime time =
        writer_.clock().memory_pass(Bytes(unit.gathered / shard_ * (full + parameter_bytes_)));
    writer_.explain("cast " + name, "all_gather", time.duration, time.formula, 1);
    waits = {program.add_timed(writer_.stream("casts of parameters", StreamKind::communication), Category::other,
                               program.add_label("cast " + name), time.duration, waits)};
  }
  return shards_.call(CollectiveKind::all_gather, name, Bytes(unit.gathered * parameter_bytes_), waits);
}

std::vector<ActivityIndex> ShardedUnitsReducer::take(Unit& unit) {
  if (!unit.gather || std::exchange(unit.waited, true)) return {};
  return {*unit.gather};
}

std::vector<ActivityIndex> ShardedUnitsReducer::gather_for_forward(std::size_t index,
                                                                   std::optional<ActivityIndex> on_device) {
  on_device_ = on_device;
  std::vector<ActivityIndex> waits;
  if (!std::exchange(root_gathered_, true) && root_.gathered > 0) {
    std::vector<ActivityIndex> before;
    if (on_device) before.push_back(*on_device);
    waits.push_back(call_gather(root_, std::move(before)));
  }
  const Place& place = places_[index];
  while (next_forward_ < place.begun) gather(units_[next_forward_++]);
  const std::size_t ahead = std::min(units_.size(), place.begun + prefetched_);
  while (next_forward_ < ahead && may_prefetch()) gather(units_[next_forward_++]);
  if (!place.unit) return waits;
  const std::vector<ActivityIndex> own = take(units_[*place.unit]);
  waits.insert(waits.end(), own.begin(), own.end());
  return waits;
}

void ShardedUnitsReducer::drop(Unit& unit, ActivityIndex after) {
  if (!unit.gather) return;
  unit.gather.reset();
  ends_.push_back(after);
}

void ShardedUnitsReducer::after_forward(std::size_t index, ActivityIndex done) {
  const Place& place = places_[index];
  if (!place.unit || units_[*place.unit].last != index || !units_[*place.unit].gather) return;
  if (reshards_) {
    drop(units_[*place.unit], done);
  } else {
    --held_;  // does not wait any more, and stays
  }
}

std::vector<ActivityIndex> ShardedUnitsReducer::gather_for_backward(std::size_t index, ActivityIndex on_device) {
  if (!reshards_) return {};
  on_device_ = on_device;
  const Place& place = places_[index];
  const auto gather_next = [&] {
    Unit& unit = units_[--next_backward_];
    if (unit.last_in_backward) gather(unit);
  };
  while (next_backward_ > place.ended) gather_next();
  while (next_backward_ > 0 && next_backward_ + prefetched_ > place.ended && may_prefetch()) gather_next();
  return place.unit ? take(units_[*place.unit]) : std::vector<ActivityIndex>{};
}

void ShardedUnitsReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  const Place& place = places_[index];
  const Unit& unit = place.unit ? units_[*place.unit] : root_;
  if (unit.last_in_backward == index && unit.trained > 0) reduce(unit, gradients_done);
}

void ShardedUnitsReducer::after_any_backward(std::size_t index, ActivityIndex done) {
  const Place& place = places_[index];
  if (reshards_ && place.unit && units_[*place.unit].last_in_backward == index) drop(units_[*place.unit], done);
}

void ShardedUnitsReducer::reduce(const Unit& unit, ActivityIndex gradients_done) {
  const std::string name = "gradients of " + unit.name;
  // Whole gradients have been summed up where they are kept.
  const double made = gradients_in_parts_ ? made_gradient_bytes(writer_) : stored_gradient_bytes(writer_);
  ActivityIndex ready = gradients_done;
  if (copies_ || made != gradient_bytes_) {
    ready = gradient_pass(writer_, "copy " + name, Bytes(unit.trained * (made + gradient_bytes_)), {ready});
  }
  const Bytes bytes(unit.trained * gradient_bytes_);
  ready = shards_.call(CollectiveKind::reduce_scatter, name, bytes, {ready});
  if (replicas_ > 1) ready = replica_.call(CollectiveKind::all_reduce, name, bytes / shard_, {ready});
  reductions_.push_back(ready);
}

std::vector<ActivityIndex> ShardedUnitsReducer::finish() {
  const std::vector<ActivityIndex> reduced = std::exchange(reductions_, {});
  const bool adds = gradients_in_parts_ && !first_;
  const double stored = stored_gradient_bytes(writer_);
  if (reduced.empty() || (!adds && stored == gradient_bytes_)) return reduced;
  double trained = root_.trained;
  for (const Unit& unit : units_) trained += unit.trained;
  return {gradient_pass(writer_, adds ? "add parts of gradients" : "convert parts of gradients",
                        Bytes(trained / shard_ * (gradient_bytes_ + stored * (adds ? 2 : 1))), reduced)};
}

}  // namespace foretrain::sim::strategies
