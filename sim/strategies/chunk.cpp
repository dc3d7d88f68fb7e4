#include "sim/strategies/chunk.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "models/precision.h"
#include "sim/strategies/block_clock.h"
#include "sim/strategies/schedule.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;
using calibrate::Direction;
using models::OperatorKind;

constexpr const char* repeated = " further micro-batches";
constexpr const char* forward_launch = "host_seconds_per_launch_forward";
constexpr const char* backward_launch = "host_seconds_per_launch_backward";

// Autocast runs matrix work in two bytes and so casts its fp32 weights; the rest takes what it gets.
bool casts_weights(const models::Operator& op, models::Precision precision) {
  const bool matrix_work =
      op.kind == OperatorKind::gemm || op.kind == OperatorKind::convolution || op.kind == OperatorKind::recurrent;
  return matrix_work && models::is_mixed(precision) && !op.parameters.empty();
}

// A fused attention core is one kernel forward and three backward (FlashAttention: the row sums of output times its
// gradient, the gradients, and the conversion of the query's); the model counts the kernels of an unfused one.
double launches(const models::Operator& op, bool forward, bool fused_attention) {
  if (op.kind == OperatorKind::attention && fused_attention) return forward ? 1 : 3;
  return forward ? op.kernels_forward : op.kernels_backward;
}

const char* direction_words(Direction direction) {
  switch (direction) {
    case Direction::forward: return " forward";
    case Direction::backward: return " backward";
    case Direction::input_gradient: return " input gradient";
    case Direction::weight_gradient: return " weight gradient";
  }
  return "";
}

}  // namespace

bool is_repeated(const std::string& label) {
  const std::string ending = repeated;
  return label.size() > ending.size() && label.compare(label.size() - ending.size(), ending.size(), ending) == 0;
}

Chunk::Chunk(StepWriter& writer, const LocalModel& model, std::int64_t micro_batches, bool adds_up,
             std::size_t first_operator)
    : writer_(writer),
      model_(model),
      first_operator_(first_operator),
      splits_backward_(is_zero_bubble(writer.input().scenario.plan)),
      bytes_(operator_bytes(model, writer.input().scenario.training.precision, writer.input().stack)) {
  for (const LocalOperator* local : flat_operators(model)) {
    operators_.push_back(work_of(*local, micro_batches, adds_up));
    explain_collectives(*local, static_cast<double>(micro_batches));
    operators_.back().bytes = bytes_[operators_.size() - 1];
  }
}

Work Chunk::timed(const models::Operator& op, Direction direction, std::int64_t micro_batches) {
  const bool forward = direction == Direction::forward;
  const calibrate::OperatorTime time = writer_.clock().time(op, direction);
  double kernels = launches(op, forward, writer_.stack("fused_attention") != 0);
  const bool half = direction == Direction::input_gradient || direction == Direction::weight_gradient;
  if (half) kernels = std::min(kernels, direction == Direction::weight_gradient ? kernels - 1 : 1.0);
  const std::string name = op.name + direction_words(direction);
  const Duration host = writer_.anchored(writer_.host_time(forward ? forward_launch : backward_launch, kernels));
  if (half) return {name, writer_.anchored(time), host};  // explained as a whole
  writer_.explain(name, forward ? "forward" : "backward", time, static_cast<double>(micro_batches));
  writer_.explain(name, "launch", host, significant(kernels) + " launches", static_cast<double>(micro_batches));
  if (time.extrapolated && (extrapolated_.empty() || extrapolated_.back() != op.name)) extrapolated_.push_back(op.name);
  return {name, writer_.anchored(time), host};
}

void Chunk::explain_collectives(const LocalOperator& local, double times) {
  if (!writer_.input().want_terms || writer_.input().planner == nullptr) return;
  const double passes = local.segment == not_recomputed ? 1 : 2;
  const auto explain = [&](const std::vector<LayerCollective>& collectives, double how_often) {
    for (const LayerCollective& collective : collectives) writer_.explain(collective, how_often);
  };
  explain(local.before_forward, times * passes);
  explain(local.after_forward, times * passes);
  explain(local.before_backward, times);
  explain(local.after_backward, times);
}

Work Chunk::weight_pass(const models::Operator& op, const std::string& what, const char* launch_key, Bytes bytes,
                        double times) {
  const calibrate::OperatorTime time = writer_.clock().memory_pass(bytes);
  const auto tensors = static_cast<double>(op.parameters.size());
  const std::string name = op.name + " " + what;
  const bool forward = launch_key == forward_launch;
  writer_.explain(name, forward ? "forward" : "backward", time, times);
  return {name, writer_.anchored(time), writer_.anchored(writer_.host_time(launch_key, tensors))};
}

OperatorWork Chunk::work_of(const LocalOperator& local, std::int64_t micro_batches, bool adds_up) {
  const models::Operator& op = local.op;
  const models::Precision precision = writer_.input().scenario.training.precision;
  const double full = models::activation_bytes(models::Precision::fp32);
  const double half = models::activation_bytes(precision);
  const auto elements = static_cast<double>(models::parameter_count(op));
  const auto times = static_cast<double>(micro_batches);
  const bool half_weights = models::is_mixed(precision) && writer_.stack("half_precision_weights") != 0;
  const bool casts = casts_weights(op, precision) && !half_weights;
  OperatorWork work;
  work.local = &local;
  const auto weight_cast = [&](const std::string& what, const char* launch_key) {
    return weight_pass(op, what, launch_key, Bytes(elements * (full + half)), times);
  };
  if (casts) work.forward.push_back(weight_cast("weight cast", forward_launch));
  work.forward.push_back(timed(op, Direction::forward, micro_batches));
  if (local.segment != not_recomputed) {
    writer_.explain(op.name + " recompute", "recompute", writer_.clock().time(op, Direction::forward), times);
  }
  if (!op.forward_only) {
    work.backward.push_back(timed(op, Direction::backward, micro_batches));
    if (splits_backward_) {
      work.input_gradient.push_back(timed(op, Direction::input_gradient, micro_batches));
      work.weight_gradient.push_back(timed(op, Direction::weight_gradient, micro_batches));
    }
  }
  if (casts) {
    work.backward.push_back(weight_cast("gradient cast", backward_launch));
    if (splits_backward_) work.weight_gradient.push_back(work.backward.back());
  }
  if (adds_up && micro_batches > 1 && !op.parameters.empty() && writer_.stack("fused_gradient_sum") == 0) {
    // Reads the stored sum and the new gradient, writes the sum.
    const double stored = writer_.stack("gradient_storage_bytes"), produced = half_weights ? half : full;
    work.accumulate.push_back(
        weight_pass(op, "gradient sum", backward_launch, Bytes(elements * (2 * stored + produced)), times - 1));
  }
  return work;
}

Bytes Chunk::output_bytes() const {
  return Bytes(model_.layers.back().output_elements *
               models::activation_bytes(writer_.input().scenario.training.precision));
}

std::optional<std::size_t> Chunk::segment_ending_at(std::size_t index) const {
  const std::size_t segment = operators_[index].local->segment;
  if (segment == not_recomputed) return std::nullopt;
  if (index + 1 < operators_.size() && operators_[index + 1].local->segment == segment) return std::nullopt;
  std::size_t first = index;
  while (first > 0 && operators_[first - 1].local->segment == segment) --first;
  return first;
}

void Chunk::write_collectives(const std::vector<LayerCollective>& collectives) {
  for (const LayerCollective& collective : collectives) {
    std::vector<ActivityIndex> waits = std::exchange(arriving_, {});
    if (const auto last = writer_.last_device_work()) waits.push_back(*last);
    arriving_ = {writer_.layer_collective(collective, waits)};
  }
}

void Chunk::write_forward_of(const OperatorWork& op, Category category) {
  write_collectives(op.local->before_forward);
  for (const Work& work : op.forward) writer_.work(work, category, std::exchange(arriving_, {}));
}

// `arriving_`: what the next operator waits for besides its stream.
ActivityIndex Chunk::write_forward(MicroBatch which, Reducer* reducer, std::vector<ActivityIndex> after) {
  std::vector<Activity>& activities = writer_.program().activities;
  arriving_ = std::move(after);
  left_over_.clear();
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    const std::size_t number = first_operator_ + i;
    if (reducer != nullptr) {
      if (which.first) wait_for(reducer->before_forward(number));
      wait_for(reducer->gather_for_forward(number, writer_.last_device_work()));
    }
    write_forward_of(operators_[i], Category::forward);
    const ActivityIndex done = *writer_.last_device_work();
    activities[done].allocates_bytes = operators_[i].bytes.saved;
    if (reducer != nullptr) reducer->after_forward(number, done);
    write_collectives(operators_[i].local->after_forward);
  }
  left_over_ = std::exchange(arriving_, {});
  return *writer_.last_device_work();
}

void Chunk::wait_for(const std::vector<ActivityIndex>& more) {
  arriving_.insert(arriving_.end(), more.begin(), more.end());
}

// The operators from `first` to `last` run forward again.
void Chunk::recompute(std::size_t first, std::size_t last, Reducer* reducer) {
  for (std::size_t i = first; i <= last; ++i) {
    if (reducer != nullptr) {
      wait_for(reducer->gather_for_backward(first_operator_ + i, *writer_.last_device_work()));
    }
    write_forward_of(operators_[i], Category::recompute);
    writer_.program().activities[*writer_.last_device_work()].allocates_bytes = operators_[i].bytes.recomputed;
    write_collectives(operators_[i].local->after_forward);
  }
}

ActivityIndex Chunk::write_backward(MicroBatch which, Reducer* reducer, std::vector<ActivityIndex> after) {
  std::vector<Activity>& activities = writer_.program().activities;
  arriving_ = std::move(after);
  arriving_.insert(arriving_.end(), left_over_.begin(), left_over_.end());
  left_over_.clear();
  double held_bytes = 0;  // until the next kernel is done: the gradient it reads, what operators without one saved
  for (std::size_t i = operators_.size(); i-- > 0;) {
    const OperatorWork& op = operators_[i];
    if (const auto first = segment_ending_at(i)) recompute(*first, i, reducer);
    held_bytes += op.bytes.saved + op.bytes.recomputed;
    if (op.backward.empty()) continue;
    if (reducer != nullptr) {
      wait_for(reducer->gather_for_backward(first_operator_ + i, *writer_.last_device_work()));
    }
    write_collectives(op.local->before_backward);
    std::vector<ActivityIndex> on_device;
    for (const Work& work : op.backward) {
      on_device.push_back(writer_.work(work, Category::backward, std::exchange(arriving_, {})));
    }
    for (const Work& work : op.accumulate) {
      if (which.adds_up) on_device.push_back(writer_.work(work, Category::backward));
    }
    const ActivityIndex done = on_device.back();
    activities[on_device.front()].allocates_bytes = op.bytes.input_gradient + op.bytes.weight_gradient;
    activities[done].frees_bytes = std::exchange(held_bytes, op.bytes.input_gradient) + op.bytes.weight_gradient;
    write_collectives(op.local->after_backward);
    if (reducer == nullptr) continue;
    if (which.reduces) reducer->after_backward(first_operator_ + i, done);
    reducer->after_any_backward(first_operator_ + i, done);
  }
  activities[*writer_.last_device_work()].frees_bytes += held_bytes;
  left_over_ = std::exchange(arriving_, {});
  return *writer_.last_device_work();
}

std::vector<ActivityIndex> Chunk::take_unfinished() { return std::exchange(left_over_, {}); }

// --- blocks -------------------------------------------------------------------------------------------

Chunk::Block Chunk::make_block(Pass pass, bool adds_up, const std::optional<LayerCollective>& arriving) {
  BlockClock clock(writer_);
  if (arriving) clock.collective(*arriving);
  const auto run = [&](const std::vector<Work>& works, Category category) {
    for (const Work& work : works) clock.work(work, category);
  };
  const auto exchange = [&](const std::vector<LayerCollective>& collectives) {
    for (const LayerCollective& collective : collectives) clock.collective(collective);
  };
  const auto forward = [&](const OperatorWork& op, Category category) {
    exchange(op.local->before_forward);
    run(op.forward, category);
    exchange(op.local->after_forward);
  };
  Block block;
  if (pass == Pass::forward) {
    for (const OperatorWork& op : operators_) forward(op, Category::forward);
    block.allocates_bytes = kept_bytes(bytes_);
  } else if (pass == Pass::weight_gradient) {
    for (std::size_t i = operators_.size(); i-- > 0;) run(operators_[i].weight_gradient, Category::backward);
  } else {
    for (std::size_t i = operators_.size(); i-- > 0;) {
      const OperatorWork& op = operators_[i];
      if (const auto first = segment_ending_at(i)) {
        for (std::size_t again = *first; again <= i; ++again) forward(operators_[again], Category::recompute);
      }
      exchange(op.local->before_backward);
      run(pass == Pass::backward ? op.backward : op.input_gradient, Category::backward);
      if (pass == Pass::backward && adds_up) run(op.accumulate, Category::backward);
      exchange(op.local->after_backward);
    }
    block.allocates_bytes =
        pass == Pass::backward ? backward_peak_bytes(bytes_) : input_gradient_peak_bytes(bytes_);
    block.frees_bytes = block.allocates_bytes;
  }
  if (pass == Pass::weight_gradient && adds_up) {
    for (std::size_t i = operators_.size(); i-- > 0;) run(operators_[i].accumulate, Category::backward);
  }
  if (pass == Pass::backward || pass == Pass::weight_gradient) {
    block.frees_bytes += kept_bytes(bytes_);
  }
  block.mixture = writer_.program().add_mixture(clock.take());
  return block;
}

namespace {

const char* pass_name(Pass pass) {
  switch (pass) {
    case Pass::forward: return "forward pass";
    case Pass::backward: return "backward pass";
    case Pass::input_gradient: return "input gradients";
    case Pass::weight_gradient: return "weight gradients";
  }
  return "";
}

}  // namespace

bool is_pass(const std::string& label) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient}) {
    if (label == pass_name(pass)) return true;
  }
  return false;
}

ActivityIndex Chunk::write_block(Pass pass, MicroBatch which, const std::vector<ActivityIndex>& after,
                                 const std::optional<LayerCollective>& arriving) {
  std::optional<Block>& block = blocks_[static_cast<std::size_t>(pass)][which.adds_up ? 1 : 0];
  if (!block) block = make_block(pass, which.adds_up, arriving);
  if (arriving && writer_.input().want_terms) writer_.explain(*arriving, 1);
  const Category category = pass == Pass::forward ? Category::forward : Category::backward;
  const ActivityIndex index = writer_.mixed_work(pass_name(pass), category, block->mixture, after);
  Activity& activity = writer_.program().activities[index];
  activity.allocates_bytes = block->allocates_bytes;
  activity.frees_bytes = block->frees_bytes;
  return index;
}

void Chunk::write_repeated(std::int64_t count) {
  if (count <= 0) return;
  std::map<std::uint32_t, double> host;
  std::map<std::pair<Category, std::uint32_t>, double> device;
  BlockClock communication(writer_);
  const auto add = [&](const std::vector<Work>& works, Category category) {
    for (const Work& work : works) {
      host[work.host.parameter.index] += work.host.time.value;
      device[{category, work.device.parameter.index}] += work.device.time.value;
    }
  };
  const auto exchange = [&](const std::vector<LayerCollective>& collectives) {
    for (const LayerCollective& collective : collectives) {
      const Duration launch = writer_.host_time("collective_launch_seconds", 1);
      host[launch.parameter.index] += launch.time.value;
      communication.collective_without_launch(collective);
    }
  };
  const auto forward = [&](const OperatorWork& op, Category category) {
    exchange(op.local->before_forward);
    add(op.forward, category);
    exchange(op.local->after_forward);
  };
  for (const OperatorWork& op : operators_) {
    forward(op, Category::forward);
    if (op.local->segment != not_recomputed) forward(op, Category::recompute);
    exchange(op.local->before_backward);
    add(op.backward, Category::backward);
    add(op.accumulate, Category::backward);
    exchange(op.local->after_backward);
  }
  const std::string name = std::to_string(count) + repeated;
  const auto times = static_cast<double>(count);
  for (const auto& [parameter, seconds] : host) {
    if (seconds > 0) writer_.host_work(name, {Seconds(seconds * times), ParameterId{parameter}});
  }
  for (const auto& [key, seconds] : device) {
    writer_.work({name, {Seconds(seconds * times), ParameterId{key.second}}, {}}, key.first);
  }
  if (communication.seconds() > 0) {
    Mixture parts = communication.take();
    for (Part& part : parts) part.seconds *= times;
    writer_.mixed_work(name, Category::communication, writer_.program().add_mixture(std::move(parts)));
  }
}

std::vector<double> Chunk::layer_seconds() const {
  std::vector<double> seconds;
  auto op = operators_.begin();
  for (const LocalLayer& layer : model_.layers) {
    double sum = 0;
    for (std::size_t i = 0; i < layer.operators.size(); ++i, ++op) {
      const bool again = op->local->segment != not_recomputed;
      for (const Work& work : op->forward) sum += work.device.time.value * (again ? 2 : 1);
      for (const Work& work : op->backward) sum += work.device.time.value;
    }
    seconds.push_back(sum);
  }
  return seconds;
}

}  // namespace foretrain::sim::strategies
