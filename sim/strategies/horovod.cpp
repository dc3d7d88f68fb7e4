#include "sim/strategies/horovod.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/precision.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {
namespace {

FusionRules rules_of(const StepWriter& writer) {
  FusionRules rules;
  rules.threshold = Bytes(writer.stack("bucket_bytes"));
  rules.bytes_per_element = writer.stack("gradient_bytes_per_parameter");
  rules.cycle = Seconds(writer.stack("cycle_seconds"));
  rules.negotiation = Seconds(writer.stack("negotiation_seconds"));
  return rules;
}

}  // namespace

HorovodReducer::HorovodReducer(StepWriter& writer)
    : writer_(writer),
      thread_(writer.program().add_stream("Horovod's background thread", StreamKind::host)),
      exchange_(writer, thread_),
      rules_(rules_of(writer)),
      compressor_(make_compressor(writer.input().scenario.stack.compression,
                                  {writer, exchange_, {thread_, writer.communication()}, rules_.bytes_per_element})),
      gradients_(ready_order(writer.rank_model(), writer.input().scenario.plan)),
      earliest_(writer),
      made_by_(flat_operators(writer.rank_model()).size()) {
  double overlap = writer.stack("overlap");
  if (compressor_->wants_everything_at_once()) {
    rules_.threshold = Bytes(std::numeric_limits<double>::infinity());
    overlap = 0;
  }
  std::vector<double> bytes;
  for (const ReadyGradient& gradient : gradients_) bytes.push_back(gradient.elements);
  put_off_ = put_off(bytes, overlap);
}

bool HorovodReducer::reduces_every_micro_batch() const { return writer_.stack("synchronize_every_micro_batch") != 0; }

void HorovodReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  last_ = made_by_[index] = {writer_.last_host_work(), gradients_done};
}

std::vector<HandedOver> HorovodReducer::handed_over(std::vector<Made>& made) {
  std::vector<HandedOver> tensors;
  for (const bool late : {false, true}) {
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      if (put_off_[i] != late) continue;
      made.push_back(late ? Made{last_.done, last_.done} : made_by_[gradients_[i].made_by]);
      tensors.push_back({gradients_[i], earliest_.end_of(made.back().launched), earliest_.end_of(made.back().done)});
    }
  }
  return tensors;
}

ActivityIndex HorovodReducer::copy(const Bucket& group, const std::string& name, ActivityIndex after) {
  if (group.tensors.size() < 2) return after;
  const calibrate::OperatorTime time =
      writer_.clock().memory_pass(Bytes(group.elements * 2 * rules_.bytes_per_element));
  writer_.explain(name, "all_reduce", time.duration, time.formula, 1);
  return writer_.work({name, time.duration, {}}, Category::other, {after}, {thread_, writer_.communication()});
}

// The thread waits for the data before it calls the collective library.
ActivityIndex HorovodReducer::write_group(const Bucket& group, ActivityIndex negotiated, ActivityIndex data) {
  const std::string what = fmt::format("fusion {}", averages_.size() + 1);
  const ActivityIndex arrived = writer_.host_work(
      "wait for data of " + what, writer_.stack_time("negotiation_seconds", Seconds(0)), {negotiated, data}, thread_);
  compressor_->send(group, what, copy(group, "copy into " + what, arrived));
  return copy(group, "copy out of " + what, compressor_->receive().back());
}

void HorovodReducer::write_cycle(const FusedCycle& cycle, const std::vector<Made>& made) {
  const Duration wait = writer_.stack_time("cycle_seconds", cycle.wait);
  const Duration negotiation = writer_.stack_time("negotiation_seconds", rules_.negotiation);
  writer_.explain("waits for the next cycle", "launch", wait, "of Horovod's background thread", 1);
  writer_.explain("negotiation", "launch", negotiation, "once per cycle with work", 1);
  writer_.host_work("wait for the next cycle", wait, {made[cycle.last].launched}, thread_);
  const ActivityIndex negotiated = writer_.host_work("negotiation", negotiation, {}, thread_);
  for (std::size_t i = 0; i < cycle.groups.size(); ++i) {
    averages_.push_back(write_group(cycle.groups[i], negotiated, made[cycle.group_ends[i] - 1].done));
  }
}

std::vector<ActivityIndex> HorovodReducer::finish() {
  std::vector<Made> made;
  const std::vector<HandedOver> tensors = handed_over(made);
  for (const FusedCycle& cycle : fuse(tensors, rules_)) write_cycle(cycle, made);
  std::vector<ActivityIndex> averages = std::exchange(averages_, {});
  if (averages.empty()) return averages;
  return {writer_.host_work("wait for Horovod", writer_.stack_time("negotiation_seconds", Seconds(0)), averages)};
}

}  // namespace foretrain::sim::strategies
