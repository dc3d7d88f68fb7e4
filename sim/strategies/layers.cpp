#include "sim/strategies/layers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "models/precision.h"
#include "sim/memory.h"

namespace foretrain::sim::strategies {
namespace {

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

}  // namespace

bool is_repeated(const std::string& label) {
  const std::string ending = repeated;
  return label.size() > ending.size() && label.compare(label.size() - ending.size(), ending.size(), ending) == 0;
}

std::vector<const models::Operator*> flat_operators(const models::Model& model) {
  std::vector<const models::Operator*> operators;
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) operators.push_back(&op);
  }
  return operators;
}

Layers::Layers(StepWriter& writer, std::int64_t accumulation, bool adds_up) : writer_(writer) {
  const models::Operator* before = nullptr;
  for (const models::Operator* op : flat_operators(writer.input().model)) {
    operators_.push_back(work_of(*op, before, accumulation, adds_up));
    before = op;
  }
}

Work Layers::timed(const models::Operator& op, Direction direction, std::int64_t accumulation) {
  const bool forward = direction == Direction::forward;
  const calibrate::OperatorTime time = writer_.clock().time(op, direction);
  const double kernels = launches(op, forward, writer_.stack("fused_attention") != 0);
  const std::string name = op.name + (forward ? " forward" : " backward");
  const Duration host = writer_.anchored(writer_.host_time(forward ? forward_launch : backward_launch, kernels));
  writer_.explain(name, forward ? "forward" : "backward", time, static_cast<double>(accumulation));
  writer_.explain(name, "launch", host, significant(kernels) + " launches", static_cast<double>(accumulation));
  if (time.extrapolated && (extrapolated_.empty() || extrapolated_.back() != op.name)) extrapolated_.push_back(op.name);
  return {name, writer_.anchored(time), host};
}

Work Layers::weight_pass(const models::Operator& op, const std::string& what, const char* launch_key,
                         double bytes_per_element, double times) {
  const auto elements = static_cast<double>(models::parameter_count(op));
  const calibrate::OperatorTime time = writer_.clock().memory_pass(Bytes(elements * bytes_per_element));
  const auto tensors = static_cast<double>(op.parameters.size());
  const std::string name = op.name + " " + what;
  const bool forward = launch_key == forward_launch;
  writer_.explain(name, forward ? "forward" : "backward", time, times);
  return {name, writer_.anchored(time), writer_.anchored(writer_.host_time(launch_key, tensors))};
}

OperatorWork Layers::work_of(const models::Operator& op, const models::Operator* before, std::int64_t accumulation,
                             bool adds_up) {
  const models::Precision precision = writer_.input().scenario.training.precision;
  const double full = models::activation_bytes(models::Precision::fp32);
  const double half = models::activation_bytes(precision);
  const auto micro_batches = static_cast<double>(accumulation);
  OperatorWork work;
  const bool casts = casts_weights(op, precision);
  if (casts) work.forward.push_back(weight_pass(op, "weight cast", forward_launch, full + half, micro_batches));
  work.forward.push_back(timed(op, Direction::forward, accumulation));
  if (!op.forward_only) work.backward.push_back(timed(op, Direction::backward, accumulation));
  if (casts) work.backward.push_back(weight_pass(op, "gradient cast", backward_launch, half + full, micro_batches));
  if (adds_up && accumulation > 1 && !op.parameters.empty()) {  // reads both, writes one
    work.accumulate.push_back(weight_pass(op, "gradient sum", backward_launch, 3 * full, micro_batches - 1));
  }
  if (spreads_tables(writer_.input().scenario.plan) && writer_.input().cluster.gpus > 1) {
    work.exchange = table_exchange(op, precision);
  }
  const DynamicBytes bytes = dynamic_bytes(op, before, precision, writer_.input().stack);
  work.saved_bytes = bytes.saved;
  work.input_gradient_bytes = bytes.input_gradient;
  return work;
}

ActivityIndex Layers::exchange_table(calibrate::CollectiveKind kind, Bytes bytes, ActivityIndex after) {
  const std::string name = std::string(calibrate::to_string(kind)) + " of a table";
  const ActivityIndex launched = writer_.host_work("launch " + name, writer_.host_time("collective_launch_seconds", 1));
  Program& program = writer_.program();
  return program.add_collective(writer_.communication(), program.add_communicator("data"), kind, bytes,
                                program.add_label(name), {after, launched});
}

void Layers::write_micro_batch(Turn turn, Reducer* reducer, std::vector<ActivityIndex> after) {
  write_forward(turn, reducer, after);
  if (turn.reduces && reducer != nullptr) reducer->before_backward();
  write_backward(turn, reducer, after);
}

// `arriving`: what the next operator waits for besides its stream.
void Layers::write_forward(Turn turn, Reducer* reducer, std::vector<ActivityIndex>& arriving) {
  std::vector<Activity>& activities = writer_.program().activities;
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    const OperatorWork& op = operators_[i];
    if (turn.first && reducer != nullptr) {
      const std::vector<ActivityIndex> parameters = reducer->before_forward(i);
      arriving.insert(arriving.end(), parameters.begin(), parameters.end());
    }
    if (op.exchange && op.exchange->inputs) {
      arriving.push_back(exchange_table(op.exchange->forward, op.exchange->bytes, last_));
    }
    for (const Work& work : op.forward) last_ = writer_.work(work, Category::forward, std::exchange(arriving, {}));
    activities[last_].allocates_bytes = op.saved_bytes;
    if (op.exchange && !op.exchange->inputs) {
      arriving.push_back(exchange_table(op.exchange->forward, op.exchange->bytes, last_));
    }
  }
}

void Layers::write_backward(Turn turn, Reducer* reducer, std::vector<ActivityIndex>& arriving) {
  std::vector<Activity>& activities = writer_.program().activities;
  double held_bytes = 0;  // until the next kernel is done: the gradient it reads, what operators without one saved
  for (std::size_t i = operators_.size(); i-- > 0;) {
    const OperatorWork& op = operators_[i];
    held_bytes += op.saved_bytes;
    if (op.backward.empty()) continue;
    if (op.exchange && !op.exchange->inputs) {
      arriving.push_back(exchange_table(op.exchange->backward, op.exchange->bytes, last_));
    }
    std::vector<ActivityIndex> on_device;
    for (const Work& work : op.backward) {
      on_device.push_back(writer_.work(work, Category::backward, std::exchange(arriving, {})));
    }
    for (const Work& work : op.accumulate) {
      if (turn.adds_up) on_device.push_back(writer_.work(work, Category::backward));
    }
    last_ = on_device.back();
    activities[on_device.front()].allocates_bytes = op.input_gradient_bytes;
    activities[last_].frees_bytes = std::exchange(held_bytes, op.input_gradient_bytes);
    if (op.exchange && op.exchange->inputs) {
      arriving.push_back(exchange_table(op.exchange->backward, op.exchange->bytes, last_));
    }
    if (turn.reduces && reducer != nullptr) reducer->after_backward(i, last_);
  }
  activities[last_].frees_bytes += held_bytes;
}

void Layers::write_repeated(std::int64_t count) {
  if (count <= 0) return;
  std::map<std::uint32_t, double> host;
  std::map<std::pair<Category, std::uint32_t>, double> device;
  const auto add = [&](const std::vector<Work>& works, Category category) {
    for (const Work& work : works) {
      host[work.host.parameter.index] += work.host.time.value;
      device[{category, work.device.parameter.index}] += work.device.time.value;
    }
  };
  for (const OperatorWork& op : operators_) {
    add(op.forward, Category::forward);
    add(op.backward, Category::backward);
    add(op.accumulate, Category::backward);
  }
  const std::string name = std::to_string(count) + repeated;
  const auto times = static_cast<double>(count);
  for (const auto& [parameter, seconds] : host) {
    if (seconds > 0) writer_.host_work(name, {Seconds(seconds * times), ParameterId{parameter}});
  }
  for (const auto& [key, seconds] : device) {
    writer_.work({name, {Seconds(seconds * times), ParameterId{key.second}}, {}}, key.first);
  }
}

}  // namespace foretrain::sim::strategies
